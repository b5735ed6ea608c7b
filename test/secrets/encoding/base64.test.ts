import { expect } from 'chai'
import { randomBytes } from 'node:crypto'
import { decodeBase64 } from '../../../lib/secrets/encoding/base64.js'

describe('decodeBase64', () => {
  it('reads back what Buffer writes, for every length of the last group', () => {
    for (let length = 0; length <= 66; length++) {
      const bytes = randomBytes(length)
      expect(decodeBase64(bytes.toString('base64'))).to.deep.equal(bytes)
    }
  })

  const refused: Record<string, string> = {
    'no padding': 'Zm9vYg',
    'too little padding': 'Zm9vYg=',
    'too much padding': 'Zm9v====',
    'only padding': '====',
    'padding in the middle': 'Zm==Zm9v',
    'padding that covers digits': 'Z===',
    'spare bits after one byte': 'Zh==',
    'spare bits after two bytes': 'Zm9=',
    'the URL alphabet': '-_-_',
    'a space inside': 'Zm 9v',
    'a line break at the end': 'Zm9v\n',
    'a NUL': 'Zm9\0',
    'junk at the end': 'Zm9v!',
    'junk in the middle': 'Zm9v!!!!Zm9v',
    'a letter outside ASCII': 'Zm9\u0176',
    'a character whose low byte is a digit': 'Zm9\u0141',
    'a surrogate pair': 'Zm\ud83d\ude80',
  }
  for (const [name, text] of Object.entries(refused)) {
    it(`refuses ${name}`, () => expect(decodeBase64(text)).to.equal(undefined))
  }

  it('has one text for each value: no single character of a text can be another', () => {
    const text = randomBytes(16).toString('base64')
    for (let at = 0; at < text.length; at++) {
      for (let code = 0; code < 256; code++) {
        const other = text.slice(0, at) + String.fromCharCode(code) + text.slice(at + 1)
        if (other !== text) expect(decodeBase64(other)?.toString('base64') ?? other).to.equal(other)
      }
    }
  })
})
