// Reads lines of hex, each the UTF-8 of a text; writes for each the JSON of [with indent 2, without], or null for no JSON.
'use strict'
const lines = require('readline').createInterface({ input: process.stdin })
lines.on('line', line => {
  let value
  try {
    value = JSON.parse(Buffer.from(line, 'hex').toString('utf8'))
  } catch {
    console.log('null')
    return
  }
  console.log(JSON.stringify([JSON.stringify(value, null, 2), JSON.stringify(value)]))
})
