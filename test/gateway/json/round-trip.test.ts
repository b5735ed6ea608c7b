import { expect } from 'chai'
import fc from 'fast-check'
import { create, fromJson, toBinary, toJson, type JsonValue, type MessageInitShape } from '@bufbuild/protobuf'
import { parseJson } from '../../../lib/gateway/json/parse.js'
import { messageReader } from '../../../lib/gateway/json/reader.js'
import { messageWriter } from '../../../lib/gateway/json/writer.js'
import { drill } from '../../support/drill.js'
import { type AllTypes, AllTypesSchema } from '../../support/gen/jsontypes_pb.js'

type Init = MessageInitShape<typeof AllTypesSchema>

const write = messageWriter(AllTypesSchema)
const read = (json: string): AllTypes => messageReader(AllTypesSchema)(parseJson(json), {}) as AllTypes

const int32 = fc.integer({ min: -0x80000000, max: 0x7fffffff })
const uint32 = fc.integer({ min: 0, max: 0xffffffff })
const int64 = fc.bigInt({ min: -0x8000000000000000n, max: 0x7fffffffffffffffn })
const uint64 = fc.bigInt({ min: 0n, max: 0xffffffffffffffffn })
const float = fc.float({ noNaN: true })
const double = fc.double({ noNaN: true })
const text = fc.string({ unit: 'binary' })
const bytes = fc.uint8Array({ maxLength: 20 })
const keys = fc.oneof(text, fc.constantFrom('__proto__', 'constructor', ''))
const list = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(of, { maxLength: 3 })
const map = <T>(key: fc.Arbitrary<string | number>, of: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> =>
  fc.dictionary(key.map(String), of, { maxKeys: 3, noNullPrototype: true })
const seconds = fc.bigInt({ min: -62135596800n, max: 253402300799n })
const timestamp = fc.record({ seconds, nanos: fc.integer({ min: 0, max: 999_999_999 }) })
const duration = fc
  .tuple(fc.bigInt({ min: 0n, max: 315576000000n }), fc.integer({ min: 0, max: 999_999_999 }), fc.boolean())
  .map(([whole, nanos, negative]) =>
    negative ? { seconds: -whole, nanos: nanos === 0 ? 0 : -nanos } : { seconds: whole, nanos },
  )
const mask = fc.record({ paths: list(fc.constantFrom('a', 'a_b', 'a.b_c', 'long_path.of_names')) })
const plain = fc.dictionary(keys, fc.jsonValue({ depthSize: 'small' }) as fc.Arbitrary<JsonValue>, {
  maxKeys: 3,
  noNullPrototype: true,
})

const nested = fc.record({ a: int32 })
const leaves: Record<string, fc.Arbitrary<unknown>> = {
  optionalInt32: int32,
  optionalInt64: int64,
  optionalUint32: uint32,
  optionalUint64: uint64,
  optionalSint64: int64,
  optionalFixed32: uint32,
  optionalSfixed64: int64,
  optionalFloat: float,
  optionalDouble: double,
  optionalBool: fc.boolean(),
  optionalString: text,
  optionalBytes: bytes,
  optionalNestedMessage: nested,
  optionalNestedEnum: fc.constantFrom(0, 1, 2, -1, 99),
  repeatedInt64: list(int64),
  repeatedFloat: list(float),
  repeatedDouble: list(double),
  repeatedString: list(text),
  repeatedBytes: list(bytes),
  repeatedNestedMessage: list(nested),
  repeatedNestedEnum: list(fc.constantFrom(0, 1, 2, -1, 99)),
  mapInt32Int32: map(int32, int32),
  mapUint64Uint64: map(uint64.map(String), uint64),
  mapBoolBool: map(fc.constantFrom('true', 'false'), fc.boolean()),
  mapStringString: map(keys, text),
  mapStringBytes: map(keys, bytes),
  mapStringNestedMessage: map(keys, nested),
  oneofField: fc.oneof(
    text.map((value) => ({ case: 'oneofString', value })),
    uint32.map((value) => ({ case: 'oneofUint32', value })),
    nested.map((value) => ({ case: 'oneofNestedMessage', value })),
    fc.constant({ case: 'oneofNullValue', value: 0 }),
  ),
  optionalBoolWrapper: fc.boolean(),
  optionalInt64Wrapper: int64,
  optionalStringWrapper: text,
  optionalBytesWrapper: bytes,
  repeatedFloatWrapper: list(float.map((value) => ({ value }))),
  optionalTimestamp: timestamp,
  optionalDuration: duration,
  optionalFieldMask: mask,
  optionalStruct: plain,
  repeatedTimestamp: list(timestamp),
  repeatedDuration: list(duration),
  presentString: text,
  presentInt64: int64,
  textInt64: int64.map(String),
}
const message: fc.Arbitrary<AllTypes> = fc
  .letrec<{ readonly init: Record<string, unknown> }>((tie) => ({
    init: fc.record(
      { ...leaves, recursive: fc.option(tie('init'), { nil: undefined, depthSize: 'small' }) },
      { requiredKeys: [] },
    ),
  }))
  .init.map((init) => create(AllTypesSchema, withoutUndefined(init) as Init))

const withoutUndefined = (init: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(init).filter(([, value]) => value !== undefined))

/**
 * The document with every number of a float as the double that the other implementation writes, and no
 * negative zeros.
 */
const comparable = (json: string): unknown =>
  JSON.parse(json, function (name, value: unknown) {
    if (typeof value !== 'number') return value
    const isFloat = /Float/.test(name) || Array.isArray(this)
    return (isFloat ? Math.fround(value) : value) + 0
  })

const sameBytes = (one: AllTypes, other: AllTypes): boolean =>
  Buffer.compare(toBinary(AllTypesSchema, one), toBinary(AllTypesSchema, other)) === 0

describe('any message', () => {
  const numRuns = drill(200, 3_000)

  it('comes back from its JSON as it was', () => {
    fc.assert(
      fc.property(message, (original) => {
        expect(sameBytes(read(write(original, {})), original)).to.equal(true)
      }),
      { numRuns },
    )
  })

  it('is written as another implementation writes it', () => {
    fc.assert(
      fc.property(message, (original) => {
        const theirs = JSON.stringify(toJson(AllTypesSchema, original, { alwaysEmitImplicit: true }))
        expect(comparable(write(original, {}))).to.deep.equal(comparable(theirs))
      }),
      { numRuns },
    )
  })

  it('is read as another implementation reads it', () => {
    fc.assert(
      fc.property(message, (original) => {
        const json = write(original, {})
        expect(sameBytes(read(json), fromJson(AllTypesSchema, JSON.parse(json) as JsonValue))).to.equal(true)
      }),
      { numRuns },
    )
  })
})

describe('any text', () => {
  it('is JSON to both parsers or to neither, but for what I-JSON forbids', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ':',
      ',',
      '"a"',
      '"b"',
      '"\\n"',
      '1',
      '-0',
      '1.5e3',
      'true',
      'null',
      ' ',
      '\\',
      '"',
      '01',
      '',
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const source = parts.join('')
        const accepted = succeeds(() => parseJson(source))
        if (accepted) expect(succeeds(() => JSON.parse(source))).to.equal(true)
        else if (succeeds(() => JSON.parse(source)))
          expect(() => parseJson(source)).to.throw('duplicate name')
      }),
      { numRuns: drill(2_000, 100_000) },
    )
  })
})

function succeeds(run: () => unknown): boolean {
  try {
    run()
    return true
  } catch {
    return false
  }
}
