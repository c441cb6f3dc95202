//! Holders of one group key of FROST(Ed25519, SHA-512), RFC 9591, by the crate frost-ed25519.
//!
//! The arguments are the numbers of signers and of holders, for example `2 3`. The holders make their key together, with
//! no dealer, and its 32 bytes are written as hex. Then each line of input names signers and a message, for example
//! `1,3 00ff`: these holders take both rounds of signing, and the signature is written as hex, or the error in words.

use frost_ed25519 as frost;
use frost_ed25519::keys::{dkg, KeyPackage, PublicKeyPackage};

use frost_ed25519::Identifier;
use rand_core::OsRng;
use std::collections::BTreeMap;
use std::error::Error;
use std::io::{stdin, stdout, BufRead, Write};

type Fallible<T> = Result<T, Box<dyn Error>>;

struct Holders {
    keys: BTreeMap<Identifier, KeyPackage>,
    group: PublicKeyPackage,
}

/// Returns holders that made a key together: three steps, after the first and the second they exchange packages.
fn made_together(signers: u16, holders: u16) -> Fallible<Holders> {
    let ids: Vec<Identifier> = (1..=holders)
        .map(Identifier::try_from)
        .collect::<Result<_, _>>()?;
    let (mut secrets, mut first) = (BTreeMap::new(), BTreeMap::new());
    for id in &ids {
        let (secret, package) = dkg::part1(*id, holders, signers, OsRng)?;
        secrets.insert(*id, secret);
        first.insert(*id, package);
    }
    let received = |id: &Identifier| {
        let mut others = first.clone();
        others.remove(id);
        others
    };
    let mut seconds = BTreeMap::new();
    let mut sent: BTreeMap<Identifier, BTreeMap<Identifier, _>> = BTreeMap::new();
    for (id, secret) in secrets {
        let (second, packages) = dkg::part2(secret, &received(&id))?;
        seconds.insert(id, second);
        for (receiver, package) in packages {
            sent.entry(receiver).or_default().insert(id, package);
        }
    }
    let mut keys = BTreeMap::new();
    let mut group = None;
    for (id, second) in &seconds {
        let (key, public) = dkg::part3(second, &received(id), &sent[id])?;
        keys.insert(*id, key);
        if group.get_or_insert_with(|| public.clone()).verifying_key() != public.verifying_key() {
            return Err("the holders disagree about their key".into());
        }
    }
    Ok(Holders {
        keys,
        group: group.ok_or("there are no holders")?,
    })
}

impl Holders {
    /// Returns the signature that these holders make in two rounds.
    fn sign(&self, signers: &[Identifier], message: &[u8]) -> Fallible<Vec<u8>> {
        let (mut nonces, mut commitments) = (BTreeMap::new(), BTreeMap::new());
        for id in signers {
            let key = self.keys.get(id).ok_or("nobody holds that share")?;
            let (nonce, commitment) = frost::round1::commit(key.signing_share(), &mut OsRng);
            nonces.insert(*id, nonce);
            commitments.insert(*id, commitment);
        }
        let package = frost::SigningPackage::new(commitments, message);
        let mut shares = BTreeMap::new();
        for (id, nonce) in &nonces {
            shares.insert(*id, frost::round2::sign(&package, nonce, &self.keys[id])?);
        }
        Ok(frost::aggregate(&package, &shares, &self.group)?.serialize()?)
    }
}

fn answer(holders: &Holders, line: &str) -> Fallible<String> {
    let (signers, message) = line.split_once(' ').ok_or("a line is signers and a message")?;
    let ids = signers
        .split(',')
        .map(|each| Ok(Identifier::try_from(each.parse::<u16>()?)?))
        .collect::<Fallible<Vec<Identifier>>>()?;
    Ok(hex::encode(holders.sign(&ids, &hex::decode(message)?)?))
}

fn main() -> Fallible<()> {
    let numbers = std::env::args()
        .skip(1)
        .map(|each| each.parse())
        .collect::<Result<Vec<u16>, _>>()?;
    let [signers, holders] = numbers[..] else {
        return Err("give the numbers of signers and holders".into());
    };
    let holders = made_together(signers, holders)?;
    println!("{}", hex::encode(holders.group.verifying_key().serialize()?));
    for line in stdin().lock().lines() {
        match answer(&holders, &line?) {
            Ok(signature) => println!("{signature}"),
            Err(error) => println!("error: {error}"),
        }
        stdout().flush()?;
    }
    Ok(())
}
