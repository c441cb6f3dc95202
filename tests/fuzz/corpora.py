"""What fuzzing begins with: the inputs of the tests, those of tampering matrices and vectors too."""

import gzip
import json
from functools import cache

import pyarrow as pa

from strandline.config.documents import packaged_text
from strandline.core.encoding.strict_json import NumberToken
from strandline.dialects.aura.codec import to_json as to_fact_json
from strandline.dialects.aura.reduce import forks, reduce_authority, state_cbor
from strandline.dialects.ipfslog.author import to_blocks, to_car, to_json, to_lines
from strandline.dialects.ipfslog.codec import dag_pb_block, identity_value, parse_cid, sorted_json
from strandline.dialects.sdmp.author import synthetic, synthetic_id
from strandline.dialects.sdmp.codec import announce, batch, render
from strandline.kernels.manifests import MANIFEST_MEMBER
from support import (
    aura_cases,
    aura_tampering,
    devicelog_cases,
    devicelog_tampering,
    json_cases,
    mutations,
    random_deliveries,
    random_journals,
)
from support.ipfslog_cases import dag, entry, who
from support.ipfslog_tampering import BLOCKS, CLAIMS, MADE, V0

SMALL = 20_000
NODE, OTHER = synthetic_id("node", 1), synthetic_id("node", 2)


def small(inputs: list[bytes]) -> list[bytes]:
    """Each input once, none of them large."""
    return sorted({each for each in inputs if len(each) <= SMALL}, key=lambda each: (len(each), each))


@cache
def json_texts() -> list[bytes]:
    """The vectors of the strict reader, and an entry, a frame and a manifest."""
    vectors = [json_cases.bytes_of(case) for case in json_cases.CASES]
    return small([*vectors, to_json(MADE["v2"]).encode(), *manifests(), batch(NODE, NODE, synthetic(1, 3))])


@cache
def blocks() -> list[bytes]:
    """Blocks of every variant, the tampering matrix of them, identities and manifests."""
    made = [each.block for variant in ("v0", "v1", "v2", "core2") for each in dag(variant).values()]
    tampered = [
        block
        for name, (variants, make, *_) in BLOCKS.items()
        for variant in variants.split()
        if isinstance(block := make(variant), bytes)
    ]
    identities = [who(name, "core2").record.block for name in ("alice", "bob")]
    return small([*made, *tampered, *identities, V0.block, dag_pb_block(b"{}")])


@cache
def addresses() -> list[bytes]:
    claims = [make(MADE["v2"].cid) for make, _ in CLAIMS.values()]
    texts = [each if isinstance(each, bytes) else each.encode() for each in claims]
    return small([*texts, V0.cid.encode(), parse_cid(V0.cid).raw])


@cache
def log_files() -> list[bytes]:
    """Files of random logs in every format."""
    made = list(dag("v2").values())
    files = [content for run in random_deliveries.corpus(7, 12, 1) for content in run.values()]
    snapshot = {"id": "log", "values": [json.loads(to_json(each)) for each in made], "heads": [made[-1].cid]}
    texts = (to_lines(made), to_blocks(made), json.dumps(snapshot), json.dumps([snapshot["values"][0]]))
    written = [each.encode() if isinstance(each, str) else each for each in texts]
    return small(
        [
            *files,
            *written,
            to_car(made[-1:], made),
            sorted_json(identity_value(who("alice").record)).encode(),
        ]
    )


@cache
def journal_files() -> list[bytes]:
    """Text journals and files of frames, and the tampering matrix of both."""
    files = [content for run in random_journals.corpus(7, 12, 1) for content in run.values()]
    tampered = [case.data for case in mutations.tampered(0)]
    pairs = [(synthetic_id("author", 1), synthetic_id("resource", number)) for number in range(3)]
    return small([*files, *tampered, render(synthetic(1, 4)), announce(NODE, pairs, 9)])


@cache
def facts() -> list[bytes]:
    """Facts of every kind and variant in CBOR and JSON, and wrong ones."""
    made = [*aura_cases.facts().values(), *aura_cases.second_context().values()]
    made += aura_cases.first_context().values()
    wrong = [
        json.dumps(aura_tampering.changed(aura_tampering.subjects()[name], path, new)).encode()
        for name, path, new, _ in aura_tampering.SHAPES[::7]
        if not isinstance(new, (list, NumberToken))
    ]
    return small([*(each.cbor for each in made), *(to_fact_json(each).encode() for each in made), *wrong])


@cache
def fork_evidence() -> str:
    """The evidence of the fork of the vectors."""
    [fork] = forks(aura_cases.U, reduce_authority(aura_cases.U, aura_cases.facts().values()).chain)
    return fork.evidence


def fork_files() -> list[bytes]:
    """Evidence of a fork."""
    return [fork_evidence().encode()]


def states() -> list[bytes]:
    """Stored states of an authority."""
    return small([state_cbor(aura_cases.U, each) for each in aura_cases.states().values()])


@cache
def fact_files() -> list[bytes]:
    """Files of facts in every format."""
    made = list(aura_cases.facts().values())[:3]
    lines = [to_fact_json(each) for each in made]
    whole = f'{{"namespace":"{aura_cases.U.text}","facts":[{",".join(lines)}]}}'
    texts = ("\n".join(lines), whole, f"{whole}\n{lines[0]}\r\n")
    return small([*(each.encode() for each in texts), b"".join(each.cbor for each in made)])


@cache
def device_files() -> list[bytes]:
    """Entries and messages, the attacks on them, and files of each form."""
    made = devicelog_cases.example()
    feed = [devicelog_cases.compact(value) for value in devicelog_cases.feed()]
    few = devicelog_cases.lines(*list(made.values())[:2])
    attacks = [line for line, _ in devicelog_tampering.tampered()]
    whole = b"[" + b",".join(feed) + b"]"
    return small(
        [
            *(devicelog_cases.lines(each) for each in made.values()),
            few,
            *feed,
            whole,
            b" ".join(feed),
            *attacks,
        ]
    )


@cache
def device_bodies() -> list[bytes]:
    """Bodies of every kind."""
    return small([each.body for each in devicelog_cases.example().values()])


@cache
def request_files() -> list[bytes]:
    journal = {"node": NODE, "to": OTHER, "request": {"since": NODE, "limit": 5}}
    resource = {"node": NODE, "to": OTHER, "request": {"author": NODE, "resource": OTHER}}
    lines = [json.dumps(each).encode() for each in (journal, resource)]
    return [*lines, b"\n".join(lines) + b"\n", b"\xef\xbb\xbf\r\n" + lines[0]]


@cache
def manifests() -> list[bytes]:
    digest = "ab" * 32
    files = [{"name": "a.jsonl.gz", "records": 2, "bytes": 16, "sha256": digest}]
    namespaces = [{"namespace": "log:x", "records": 2, "set_hash": digest, "heads": [digest]}]
    whole = {MANIFEST_MEMBER: 1, "dialect": "ipfslog", "files": files, "namespaces": namespaces}
    return [json.dumps(each).encode() for each in (whole, whole | {"dialect": "sdmp"}, {"files": files})]


@cache
def compressed() -> list[bytes]:
    plain = [b"", b"x", render(synthetic(1, 4)), bytes(100_000)]
    codec = pa.Codec("zstd")
    packed = [
        make(each)
        for each in plain
        for make in (gzip.compress, lambda raw: codec.compress(raw, asbytes=True))
    ]
    return [
        *plain[:3],
        *packed,
        packed[0] * 9,
        packed[1] * 9,
        packed[4] + packed[2],
        gzip.compress(packed[4]),
    ]


@cache
def operator_files() -> list[bytes]:
    peer = {"user": NODE, "nodes": [OTHER]}
    nodes = {"nodes": [{"node": NODE, "user": NODE, "record": "all", "connections": [peer]}]}
    logs = {"logs": [{"id": "log", "store": "keyvalue", "write": ["*"]}, {"id": "x", "store": "none"}]}
    return [json.dumps(each).encode() for each in (nodes, logs, {"nodes": []})]


@cache
def settings_files() -> list[bytes]:
    return [packaged_text(name).encode() for name in ("base", "local")] + [
        b"limits: {files: 1}\n", b"spark:\n  master: &a x\n  cache: *a\n", b"a: [{b: !!python/x 1}]\n---\n",
    ]  # fmt: skip


@cache
def stored() -> list[bytes]:
    """Keys, values and names of block stores of nodes."""
    cid = entry("x").cid
    return small(
        [cid.encode(), b"/" + b"CIQ" + b"A" * 52, json.dumps([{"hash": cid}]).encode(), b"true", *blocks()]
    )
