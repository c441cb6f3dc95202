// Joins logs by a public library, as a peer that receives them does: node join.mjs LIBRARY FILE..
// A file holds the entries of one log: JSON lines for ipfs-log, lines {"cid":..,"data":..} of blocks for @orbitdb/core.
// Prints {"entries": .., "seconds": ..}: the time of the joins alone. Files are read and logs are set up before.

import { readFileSync } from 'node:fs'

const libraries = {
  'ipfs-log': async () => {
    const { default: Log } = await import('ipfs-log')
    const { default: Identities } = await import('orbit-db-identity-provider')
    const { default: Keystore } = await import('orbit-db-keystore')
    const provider = new Identities({ keystore: { verify: Keystore.verify } })
    const identity = { id: 'peer', publicKey: 'peer', provider }
    return async (lines) => {
      const entries = lines.map((line) => JSON.parse(line))
      const options = { logId: entries[0].id }
      const mine = new Log({}, identity, options)
      const other = new Log({}, identity, { ...options, entries })
      return { join: () => mine.join(other), joined: () => mine.length, wanted: entries.length }
    }
  },
  '@orbitdb/core': async () => {
    const { Entry, Identities, KeyStore, Log, MemoryStorage } = await import('@orbitdb/core')
    const keystore = await KeyStore({ storage: await MemoryStorage() })
    const identities = await Identities({ keystore, storage: await MemoryStorage() })
    const identity = { publicKey: 'peer', verify: identities.verify }
    return async (lines) => {
      const blocks = lines.map((line) => JSON.parse(line))
      const [entryStorage, indexStorage] = [await MemoryStorage(), await MemoryStorage()]
      for (const { cid, data } of blocks) await entryStorage.put(cid, Buffer.from(data, 'base64'))
      const head = await Entry.decode(await entryStorage.get(blocks.at(-1).cid))
      const options = { logId: head.id }
      const mine = await Log(identity, { ...options, indexStorage })
      const other = await Log(identity, { ...options, entryStorage, logHeads: [head] })
      const count = async () => {
        let found = 0
        for await (const _ of indexStorage.iterator()) found++
        return found
      }
      return { join: () => mine.join(other), joined: count, wanted: blocks.length }
    }
  }
}

const [library, ...files] = process.argv.slice(2)
const open = await libraries[library]()
let [entries, seconds] = [0, 0]
for (const file of files) {
  const log = await open(readFileSync(file, 'utf8').trimEnd().split('\n'))
  const began = performance.now()
  await log.join()
  seconds += (performance.now() - began) / 1000
  if ((await log.joined()) !== log.wanted) throw new Error(`${file}: ${await log.joined()} of ${log.wanted} joined`)
  entries += log.wanted
}
console.log(JSON.stringify({ entries, seconds }))
process.exit(0) // a library may leave timers behind
