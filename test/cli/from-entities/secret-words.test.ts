import { expect } from 'chai'
import { secretWord } from '../../../cli/from-entities/secret-words.js'

describe('a property whose name says that it holds a secret', () => {
  for (const [name, word] of [
    ['password', 'password'],
    ['passwordHash', 'password'],
    ['api_key', 'key'],
    ['APIKey', 'key'],
    ['refreshTokens', 'refresh'],
    ['privateNotes', 'private'],
    ['otp', 'otp'],
    ['pinCode', 'pin'],
  ] as const)
    it(`finds "${word}" in ${name}`, () => expect(secretWord(name)).to.equal(word))

  for (const name of [
    'keyboard',
    'tokenCount',
    'hash_length',
    'spinning',
    'secretary',
    'passport',
    'opinion',
  ])
    it(`finds nothing in ${name}`, () => expect(secretWord(name)).to.equal(undefined))
})
