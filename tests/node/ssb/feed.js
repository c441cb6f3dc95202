// Feeds by the public library of Scuttlebutt: `feed.js write COUNT [KEY]` writes one, `feed.js check [KEY]` reads values, a
// line each, appends them and writes `ok` or why not; `feed.js each [KEY]` takes each for a feed of its own. KEY is the
// network key in base64.
'use strict'
const keys = require('ssb-keys')
const validate = require('ssb-validate')

const TEXTS = ['Sea', '☃', '😀', '\u0007', '\ud83d', '"\\', '\u2028', 'é'.repeat(300)]
const NUMBERS = [0, -0, 1e21, 1e-7, 0.1, 123456789012345680000, 5e-324, null, true]

function content (number) {
  if (number % 7 === 3) return Buffer.alloc(30 + number, number).toString('base64') + '.box'
  const text = TEXTS[number % TEXTS.length]
  return { type: 'post', text, number: NUMBERS[number % NUMBERS.length], [String(number)]: [{}, []], mentions: [{ link: text }] }
}

function write (count, hmacKey) {
  const owner = keys.generate('ed25519', Buffer.alloc(32, 9))
  let state = validate.initial()
  for (let number = 1; number <= count; number++) {
    const time = 1500000000000 + number + (number % 3) / 4
    state = validate.appendNew(state, hmacKey, owner, content(number), time)
  }
  for (const message of state.queue) console.log(JSON.stringify(message))
}

function check (hmacKey, isEach) {
  let state = validate.initial()
  require('readline').createInterface({ input: process.stdin }).on('line', line => {
    const before = isEach ? validate.initial() : state
    try {
      state = validate.append(before, hmacKey, JSON.parse(line))
      console.log('ok')
    } catch (error) {
      state = before
      console.log(error.message.split('\n')[0])
    }
  })
}

const [what, ...rest] = process.argv.slice(2)
if (what === 'write') write(Number(rest[0]), rest[1] || null)
else check(rest[0] || null, what === 'each')
