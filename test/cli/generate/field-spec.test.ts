import { expect } from 'chai'
import { parseFields } from '../../../cli/generate/field-spec.js'

/** What is wrong, and what the message says of it. */
const WRONG: readonly (readonly [string, string])[] = [
  ['title', '--fields title: write it as name:type'],
  ['title:', '--fields title:: the type is missing: write one of string, text'],
  [':string', '--fields :string: the name is missing'],
  ['title:strng', '--fields title:strng: there is no type strng: write one of'],
  ['title:strng', 'did you mean string?'],
  ['dueTime:timestamp?', '--fields dueTime:timestamp?: the name dueTime: write small words joined by _'],
  ['title:string!?', '--fields title:string!?: write it as name:type'],
  ['etag:string', '--fields etag:string: etag is taken'],
  ['to_string:string', 'to_string is taken'],
  [
    'size:int32!',
    '--fields size:int32!: without a value it is 0 or false, so it is never missing: write size:int32, or size:int32?',
  ],
  ['done:bool!', 'write done:bool, or done:bool?'],
  [
    'due:timestamp',
    '--fields due:timestamp: a timestamp has no empty value: write due:timestamp! or due:timestamp?',
  ],
  ['tags:string[]?', 'a list is empty and never absent: write tags:string[]'],
  ['title:string(A)', 'only an enum has values in parentheses'],
  ['state:enum', '--fields state:enum: the values are missing: write state:enum(OPEN,DONE)'],
  ['state:enum()', 'the values are missing'],
  ['state:enum(open)', '--fields state:enum(open): the value open: write capital letters'],
  ['state:enum(A,A)', 'A is there twice'],
  ['state:enum(STATE_UNSPECIFIED)', 'STATE_UNSPECIFIED is there by itself'],
  ['state:enum(A', '--fields state:enum(A: write it as name:type'],
  ['a:string a:int32', '--fields has a twice'],
  ['a:string,b:string', 'there is no type string,b:string'],
  ['naïve:string', 'the name naïve'],
  ['a\u0000b:string', 'write small words'],
  [Array.from({ length: 201 }, (_, n) => `f${n}:string`).join(' '), 'more than 200 fields'],
]

describe('--fields', () => {
  it('reads names, types, values and presence', () => {
    const read = parseFields(' title:string!  due:timestamp?\nstate:enum(OPEN, DONE) tags:string[] ')
    expect(
      read.map(({ name, type, values, presence }) => [name, type.proto, values.join(), presence]),
    ).to.deep.equal([
      ['title', 'string', '', 'required'],
      ['due', 'google.protobuf.Timestamp', '', 'optional'],
      ['state', 'State', 'OPEN,DONE', 'plain'],
      ['tags', 'repeated string', '', 'plain'],
    ])
    expect(parseFields('')).to.deep.equal([])
  })

  for (const [text, message] of WRONG)
    it(`refuses ${JSON.stringify(text.slice(0, 60))}, as ${message.slice(0, 60)}`, () => {
      expect(() => parseFields(text)).to.throw(message)
    })
})
