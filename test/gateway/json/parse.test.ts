import { expect } from 'chai'
import { InvalidArgument } from '../../../lib/errors.js'
import { type Json, JsonNumber, MAX_JSON_DEPTH, parseJson } from '../../../lib/gateway/json/parse.js'

/** The document as plain values, to compare with what JSON.parse makes of it. */
function plain(json: Json): unknown {
  if (json instanceof Map) return Object.fromEntries([...json].map(([name, value]) => [name, plain(value)]))
  if (Array.isArray(json)) return json.map(plain)
  return json instanceof JsonNumber ? Number(json.text) : json
}

describe('parseJson', () => {
  for (const [text, rule] of [
    ['null', 'RFC 8259 3'],
    ['true', 'RFC 8259 3'],
    ['false', 'RFC 8259 3'],
    ['0', 'RFC 8259 6'],
    ['-0', 'RFC 8259 6'],
    ['-1.5e-3', 'RFC 8259 6'],
    ['1E+2', 'RFC 8259 6'],
    ['12345678901234567890', 'RFC 8259 6'],
    ['0.1234567890123456789', 'RFC 8259 6'],
    ['""', 'RFC 8259 7'],
    ['"a"', 'RFC 8259 7'],
    ['"\\"\\\\\\/\\b\\f\\n\\r\\t"', 'RFC 8259 7'],
    ['"\\u00e9\\u8C37"', 'RFC 8259 7'],
    ['"\\ud83d\\ude01"', 'RFC 8259 7'],
    ['"谷\u{1f601}\u007f"', 'RFC 8259 7'],
    ['"\\u0000"', 'RFC 8259 7'],
    ['[]', 'RFC 8259 5'],
    ['[1,[2,[]],{}]', 'RFC 8259 5'],
    ['{}', 'RFC 8259 4'],
    ['{"a":{"b":[{"c":null}]},"":1}', 'RFC 8259 4'],
    [' \t\r\n{ "a" : [ 1 , 2 ] } \n', 'RFC 8259 2'],
  ] as const)
    it(`reads ${JSON.stringify(text)} as JSON.parse does (${rule})`, () => {
      expect(plain(parseJson(text))).to.deep.equal(JSON.parse(text))
    })

  it('keeps every digit of a long number', () => {
    expect(parseJson('[9007199254740993,1e400]')).to.deep.equal([
      new JsonNumber('9007199254740993'),
      new JsonNumber('1e400'),
    ])
  })

  it('keeps __proto__ as a name like any other', () => {
    expect([...(parseJson('{"__proto__":{"a":1}}') as Map<string, Json>).keys()]).to.deep.equal(['__proto__'])
  })

  for (const [text, why, rule] of [
    ['', 'expected a value', 'RFC 8259 2'],
    [' ', 'expected a value', 'RFC 8259 2'],
    ['{', 'expected a name', 'RFC 8259 4'],
    ['[', 'expected a value', 'RFC 8259 5'],
    ['"', 'unterminated string', 'RFC 8259 7'],
    ['"abc', 'unterminated string', 'RFC 8259 7'],
    ['"abc\\', 'unknown escape', 'RFC 8259 7'],
    ['{"a":1', 'expected ","', 'RFC 8259 4'],
    ['{"a" 1}', 'expected ":"', 'RFC 8259 4'],
    ['{"a":}', 'expected a value', 'RFC 8259 4'],
    ['{"a":1,}', 'expected a name', 'RFC 8259 4'],
    ['{,}', 'expected a name', 'RFC 8259 4'],
    ['{a:1}', 'expected a name', 'RFC 8259 4'],
    ["{'a':1}", 'expected a name', 'RFC 8259 7'],
    ['[1,]', 'expected a value', 'RFC 8259 5'],
    ['[1 2]', 'expected ","', 'RFC 8259 5'],
    ['[1}', 'expected ","', 'RFC 8259 5'],
    ['1 2', 'unexpected text', 'RFC 8259 2'],
    ['{} {}', 'unexpected text', 'RFC 8259 2'],
    ['null//x', 'unexpected text', 'RFC 8259 has no comments'],
    ['/*x*/null', 'expected a value', 'RFC 8259 has no comments'],
    ['01', 'unexpected text', 'RFC 8259 6'],
    ['+1', 'expected a value', 'RFC 8259 6'],
    ['.5', 'expected a value', 'RFC 8259 6'],
    ['5.', 'unexpected text', 'RFC 8259 6'],
    ['1e', 'unexpected text', 'RFC 8259 6'],
    ['0x10', 'unexpected text', 'RFC 8259 6'],
    ['NaN', 'expected a value', 'RFC 8259 6'],
    ['Infinity', 'expected a value', 'RFC 8259 6'],
    ['tru', 'expected a value', 'RFC 8259 3'],
    ['True', 'expected a value', 'RFC 8259 3'],
    ['undefined', 'expected a value', 'RFC 8259 3'],
    ['"\n"', 'control character', 'RFC 8259 7'],
    ['"\u0000"', 'control character', 'RFC 8259 7'],
    ['"\\x41"', 'unknown escape', 'RFC 8259 7'],
    ['"\\u12"', 'four hexadecimal digits', 'RFC 8259 7'],
    ['"\\u+123"', 'four hexadecimal digits', 'RFC 8259 7'],
    ['"\\ud800"', 'surrogate', 'RFC 7493 2.1'],
    ['"\\udc00"', 'surrogate', 'RFC 7493 2.1'],
    ['"\\ude01\\ud83d"', 'surrogate', 'RFC 7493 2.1'],
    ['{"\\ud800":1}', 'surrogate', 'RFC 7493 2.1'],
    ['{"a":1,"a":2}', 'duplicate name', 'RFC 7493 2.3'],
    ['{"a":1,"\\u0061":2}', 'duplicate name', 'RFC 7493 2.3'],
    ['{"__proto__":1,"__proto__":2}', 'duplicate name', 'RFC 7493 2.3'],
    ['{"x":{"a":1,"b":2,"a":3}}', 'duplicate name', 'RFC 7493 2.3'],
    ['\u00a0null', 'expected a value', 'RFC 8259 2'],
    ['\ufeffnull', 'expected a value', 'RFC 8259 8.1'],
  ] as const)
    it(`refuses ${JSON.stringify(text)} (${rule})`, () => {
      expect(() => parseJson(text)).to.throw(InvalidArgument, why)
    })

  for (const depth of [MAX_JSON_DEPTH + 1, 10_000, 1_000_000])
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const)
      it(`refuses ${depth} levels of ${open} without running out of stack`, () => {
        expect(() => parseJson(`${open.repeat(depth)}1${close.repeat(depth)}`)).to.throw(
          InvalidArgument,
          'levels',
        )
      })

  it('reads as many levels as it allows', () => {
    expect(parseJson('['.repeat(MAX_JSON_DEPTH) + ']'.repeat(MAX_JSON_DEPTH))).to.be.an('array')
  })

  it('says where, and nothing of what was sent', () => {
    expect(() => parseJson('{"password": hunter2}')).to.throw(
      InvalidArgument,
      /^invalid JSON at character 14: expected a value$/,
    )
  })
})
