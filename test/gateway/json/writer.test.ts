import { inspect } from 'node:util'
import { expect } from 'chai'
import { create, createRegistry, isMessage, type MessageInitShape } from '@bufbuild/protobuf'
import {
  anyPack,
  DurationSchema,
  FileDescriptorSetSchema,
  TimestampSchema,
  ValueSchema,
} from '@bufbuild/protobuf/wkt'
import { ResourceExhausted } from '../../../lib/errors.js'
import { messageWriter } from '../../../lib/gateway/json/writer.js'
import { repeatedFile } from '../../resource/wire/random-messages.js'
import {
  AllTypesSchema,
  AllTypes_NestedEnum,
  AllTypes_NestedMessageSchema,
} from '../../support/gen/jsontypes_pb.js'

type Init = MessageInitShape<typeof AllTypesSchema>

const registry = createRegistry(AllTypesSchema, AllTypes_NestedMessageSchema)
const write = (init: Init): string =>
  messageWriter(AllTypesSchema)(create(AllTypesSchema, init), { registry })
const blank = JSON.parse(write({})) as Record<string, unknown>

describe('messageWriter', () => {
  it('writes zero values and leaves out what is absent', () => {
    expect(blank).to.include({
      optionalInt32: 0,
      optionalInt64: '0',
      optionalBool: false,
      optionalString: '',
      optionalBytes: '',
    })
    expect(blank).to.include({ optionalNestedEnum: 'FOO', optionalDouble: 0, textInt64: '0' })
    expect(blank).to.deep.include({ repeatedInt32: [], mapStringString: {} })
    expect(blank).not.to.have.any.keys(
      'presentString',
      'optionalNestedMessage',
      'optionalTimestamp',
      'optionalStringWrapper',
      'oneofUint32',
    )
  })

  const FLOAT = 'a float has the fewest digits that read back the same'
  const anyOf = (init: Init): NonNullable<Init['optionalAny']> =>
    anyPack(AllTypesSchema, create(AllTypesSchema, init))
  for (const [init, member, text, rule] of [
    [{ optionalInt32: -1 }, 'optionalInt32', '-1', 'proto3 JSON: int32 is a number'],
    [
      { optionalInt64: -9223372036854775808n },
      'optionalInt64',
      '"-9223372036854775808"',
      'proto3 JSON: int64 is a string',
    ],
    [
      { optionalUint64: 18446744073709551615n },
      'optionalUint64',
      '"18446744073709551615"',
      'proto3 JSON: uint64 is a string',
    ],
    [{ optionalFixed64: 1n }, 'optionalFixed64', '"1"', 'proto3 JSON: fixed64 is a string'],
    [{ optionalFloat: Math.fround(0.1) }, 'optionalFloat', '0.1', FLOAT],
    [{ optionalFloat: Math.fround(16777217) }, 'optionalFloat', '16777216', FLOAT],
    [{ optionalFloat: 3.4028234663852886e38 }, 'optionalFloat', '3.4028235e+38', FLOAT],
    [{ optionalFloat: Math.fround(1e-45) }, 'optionalFloat', '1.4013e-45', FLOAT],
    [{ optionalFloat: -Infinity }, 'optionalFloat', '"-Infinity"', 'proto3 JSON: -Infinity'],
    [{ optionalDouble: 0.1 }, 'optionalDouble', '0.1', 'ECMA-262: shortest double'],
    [{ optionalDouble: -0 }, 'optionalDouble', '-0', 'proto3 JSON: negative zero'],
    [{ optionalDouble: Number.NaN }, 'optionalDouble', '"NaN"', 'proto3 JSON: NaN'],
    [{ optionalDouble: Infinity }, 'optionalDouble', '"Infinity"', 'proto3 JSON: Infinity'],
    [{ optionalDouble: 1e21 }, 'optionalDouble', '1e+21', 'ECMA-262: shortest double'],
    [
      { optionalString: '"\\\n\u2028谷\u{1f601}' },
      'optionalString',
      JSON.stringify('"\\\n\u2028谷\u{1f601}'),
      'RFC 8259 7',
    ],
    [
      { optionalString: 'a\ud800b' },
      'optionalString',
      '"a\ufffdb"',
      'half a pair is what toBinary makes of it',
    ],
    [{ optionalString: '\udc00\ud83d' }, 'optionalString', '"\ufffd\ufffd"', 'half a pair'],
    [{ mapStringString: { '\ud800': '\ud800' } }, 'mapStringString', '{"\ufffd":"\ufffd"}', 'half a pair'],
    [{ optionalStruct: { '\ud800': '\ud800' } }, 'optionalStruct', '{"\ufffd":"\ufffd"}', 'half a pair'],
    [{ optionalInt32: -0 }, 'optionalInt32', '0', 'an integer has one zero'],
    [{ optionalInt32: '7' as never }, 'optionalInt32', '7', 'digits are a number, as for toBinary'],
    [{ optionalInt64: '-7' as never }, 'optionalInt64', '"-7"', 'digits are a number, as for toBinary'],
    [{ optionalFloat: 0.123456789 }, 'optionalFloat', '0.12345679', FLOAT],
    [
      { optionalBytes: Uint8Array.of(251, 255) },
      'optionalBytes',
      '"+/8="',
      'proto3 JSON: standard base64 with padding',
    ],
    [
      { optionalNestedEnum: AllTypes_NestedEnum.BAZ },
      'optionalNestedEnum',
      '"BAZ"',
      'proto3 JSON: enum by name',
    ],
    [
      { optionalNestedEnum: 77 as AllTypes_NestedEnum },
      'optionalNestedEnum',
      '77',
      'proto3 JSON: unknown enum by number',
    ],
    [{ optionalAliasedEnum: 2 }, 'optionalAliasedEnum', '"ALIAS_BAZ"', 'proto3 JSON: the first of aliases'],
    [{ presentString: '' }, 'presentString', '""', 'proto3: optional has presence'],
    [{ optionalNestedMessage: { a: 1 } }, 'optionalNestedMessage', '{"a":1}', 'proto3 JSON: message'],
    [{ repeatedInt64: [1n, 2n] }, 'repeatedInt64', '["1","2"]', 'proto3 JSON: array'],
    [
      { repeatedNestedMessage: [{ a: 1 }, {}] },
      'repeatedNestedMessage',
      '[{"a":1},{"a":0}]',
      'proto3 JSON: array',
    ],
    [{ mapStringString: { 'a"b': 'c' } }, 'mapStringString', '{"a\\"b":"c"}', 'proto3 JSON: object'],
    [{ mapInt32Int32: { 1: 2 } }, 'mapInt32Int32', '{"1":2}', 'proto3 JSON: keys are strings'],
    [{ mapBoolBool: { true: false } }, 'mapBoolBool', '{"true":false}', 'proto3 JSON: keys are strings'],
    [{ oneofField: { case: 'oneofUint32', value: 0 } }, 'oneofUint32', '0', 'proto3: a oneof has presence'],
    [
      { oneofField: { case: 'oneofNullValue', value: 0 } },
      'oneofNullValue',
      'null',
      'proto3 JSON: NullValue',
    ],
    [
      { optionalTimestamp: { seconds: -1n, nanos: 999_000_000 } },
      'optionalTimestamp',
      '"1969-12-31T23:59:59.999Z"',
      'proto3 JSON: Timestamp',
    ],
    [
      { optionalTimestamp: { seconds: 253402300799n, nanos: 1 } },
      'optionalTimestamp',
      '"9999-12-31T23:59:59.000000001Z"',
      'proto3 JSON: Timestamp',
    ],
    [
      { optionalTimestamp: { seconds: -62135596800n } },
      'optionalTimestamp',
      '"0001-01-01T00:00:00Z"',
      'proto3 JSON: Timestamp',
    ],
    [
      { optionalDuration: { seconds: 0n, nanos: -500_000 } },
      'optionalDuration',
      '"-0.000500s"',
      'proto3 JSON: Duration',
    ],
    [{ optionalDuration: { seconds: -3n, nanos: 0 } }, 'optionalDuration', '"-3s"', 'proto3 JSON: Duration'],
    [
      { optionalFieldMask: { paths: ['a_b.c_d', 'e'] } },
      'optionalFieldMask',
      '"aB.cD,e"',
      'proto3 JSON: FieldMask',
    ],
    [{ optionalStringWrapper: '' }, 'optionalStringWrapper', '""', 'proto3 JSON: wrappers are their value'],
    [{ optionalInt64Wrapper: 5n }, 'optionalInt64Wrapper', '"5"', 'proto3 JSON: wrappers are their value'],
    [
      { repeatedBoolWrapper: [{ value: true }] },
      'repeatedBoolWrapper',
      '[true]',
      'proto3 JSON: wrappers are their value',
    ],
    [
      { optionalStruct: { a: [1, null, { b: 'c' }] } },
      'optionalStruct',
      '{"a":[1,null,{"b":"c"}]}',
      'proto3 JSON: Struct',
    ],
    [
      { optionalValue: create(ValueSchema, { kind: { case: 'nullValue', value: 0 } }) },
      'optionalValue',
      'null',
      'proto3 JSON: Value',
    ],
    [{ optionalAny: {} }, 'optionalAny', '{}', 'proto3 JSON: an empty Any'],
    [
      { optionalAny: anyPack(AllTypes_NestedMessageSchema, create(AllTypes_NestedMessageSchema, { a: 1 })) },
      'optionalAny',
      '{"@type":"type.googleapis.com/jsontypes.v1.AllTypes.NestedMessage","a":1}',
      'proto3 JSON: Any',
    ],
    [
      { optionalAny: { typeUrl: 'type.googleapis.com/nope', value: Uint8Array.of(8, 1) } },
      'optionalAny',
      '{"@type":"type.googleapis.com/nope"}',
      'an Any of an unknown type',
    ],
    [
      { optionalAny: { typeUrl: 'type.googleapis.com/jsontypes.v1.AllTypes', value: Uint8Array.of(255) } },
      'optionalAny',
      '{"@type":"type.googleapis.com/jsontypes.v1.AllTypes"}',
      'an Any that cannot be read',
    ],
    [{ textInt64: '-7' }, 'textInt64', '"-7"', 'jstype = JS_STRING'],
    [{ FieldName3: 3 }, 'FieldName3', '3', 'proto3 JSON: lowerCamelCase of protoc'],
  ] as readonly (readonly [Init, string, string, string])[])
    it(`writes ${member} as ${text} (${rule})`, () => {
      expect(write(init)).to.match(new RegExp(`[{,]"${member}":${escape(text)}[,}]`))
    })

  it('names the type of an Any that is a whole message', () => {
    const { optionalAny } = JSON.parse(write({ optionalAny: anyOf({ optionalInt32: 3 }) })) as {
      optionalAny: Record<string, unknown>
    }
    expect(optionalAny).to.include({ '@type': 'type.googleapis.com/jsontypes.v1.AllTypes', optionalInt32: 3 })
  })

  for (const [init, rule] of [
    [{ optionalTimestamp: { seconds: 253402300800n } }, 'Timestamp range'],
    [{ optionalTimestamp: { seconds: 0n, nanos: 1_000_000_000 } }, 'Timestamp nanos'],
    [{ optionalDuration: { seconds: 1n, nanos: -1 } }, 'Duration signs'],
    [{ optionalValue: {} }, 'Value is not empty'],
    [{ optionalStruct: { a: Number.NaN } }, 'Struct has no NaN'],
  ] as readonly (readonly [Init, string])[])
    it(`refuses what JSON cannot say: ${rule}`, () => {
      expect(() => write(init)).to.throw(RangeError)
    })

  it('writes messages inside of messages so that JSON.parse reads them', () => {
    expect(
      JSON.parse(write({ recursive: { recursive: { optionalString: 'deep' } } })),
    ).to.have.nested.property('recursive.recursive.optionalString', 'deep')
  })

  for (const [field, values] of [
    ['optionalInt32', [Number.NaN, Infinity, 1.5, 2 ** 31, -(2 ** 31) - 1, 'x', 1n, true, null, {}, [1]]],
    ['optionalSint32', [Number.NaN, 2 ** 31, 'x', null]],
    ['optionalSfixed32', [Number.NaN, -(2 ** 31) - 1, 'x', null]],
    ['optionalUint32', [Number.NaN, -1, 2 ** 32, 0.5, 'x', '-1', null, undefined]],
    ['optionalFixed32', [Number.NaN, -1, 2 ** 32, 'x', null]],
    ['optionalInt64', [Number.NaN, 1.5, 2n ** 63n, -(2n ** 63n) - 1n, 'x', '1.5', true, null, {}]],
    ['optionalSint64', [Number.NaN, 2n ** 63n, 'x', null]],
    ['optionalSfixed64', [Number.NaN, 2n ** 63n, 'x', null]],
    ['optionalUint64', [Number.NaN, -1n, 2n ** 64n, 'x', null]],
    ['optionalFixed64', [Number.NaN, -1n, 2n ** 64n, 'x', null]],
    ['textInt64', ['x', '9223372036854775808', null]],
    ['optionalFloat', [1e39, -1e39, 'x', 1n, true, null, {}]],
    ['optionalDouble', ['x', 1n, true, null, {}]],
    ['optionalBool', ['false', 'x', 0, 1, null, {}]],
    ['optionalString', [1, true, null, {}, ['a']]],
    ['optionalBytes', ['AAAA', [1, 2], {}, null, 7, new Uint16Array(2)]],
    ['optionalNestedEnum', ['FOO', Number.NaN, 2 ** 31, 1.5, null]],
    ['optionalNestedMessage', [{ a: 1 }, 'x', 7, null, create(AllTypesSchema)]],
    [
      'optionalTimestamp',
      [{ seconds: 1n, nanos: 0 }, new Date(0), '2026-01-31T10:00:00Z', create(DurationSchema)],
    ],
    ['optionalFieldMask', [{ paths: 'a' }, ['a']]],
    [
      'optionalStruct',
      [[], 'x', null, { a: undefined }, { a: () => 1 }, { a: 1n }, { a: new Array(1) }, { a: Infinity }],
    ],
    ['optionalBoolWrapper', ['true', 1]],
    ['optionalInt32Wrapper', [Number.NaN, 'x']],
    ['optionalInt64Wrapper', ['x', 2n ** 63n]],
    ['optionalStringWrapper', [7]],
    ['repeatedInt32', [[1, Number.NaN], ['x'], 'x', null, { 0: 1 }, new Set([1]), new Array(1)]],
    ['repeatedString', ['abc', [1], null]],
    ['repeatedNestedMessage', [[{ a: 1 }], [null], {}]],
    [
      'mapInt32Int32',
      [{ 1: 'x' }, { x: 1 }, { '01': 1 }, { 4294967296: 1 }, { 1.5: 1 }, [1], new Map([[1, 2]]), null],
    ],
    ['mapUint32Uint32', [{ '-1': 1 }]],
    ['mapInt64Int64', [{ 9223372036854775808: 1n }, { ' 1': 1n }, { '0x1': 1n }, { '': 1n }]],
    ['mapUint64Uint64', [{ '-1': 1n }]],
    ['mapBoolBool', [{ yes: true }, { true: 'yes' }]],
    ['mapStringDouble', [{ a: 'x' }]],
    ['mapStringNestedMessage', [{ a: { a: 1 } }]],
    [
      'oneofField',
      [
        { case: 'oneofUint32', value: -1 },
        { case: 'oneofEnum', value: 'FOO' },
      ],
    ],
  ] as readonly (readonly [string, readonly unknown[]])[])
    for (const value of values)
      it(`refuses ${isMessage(value) ? value.$typeName : inspect(value)} in ${field}, naming the field`, () => {
        const message = create(AllTypesSchema, { recursive: {} })
        Object.assign(message.recursive as object, { [field]: value })
        const name = snakeCase(field === 'oneofField' ? (value as { case: string }).case : field)
        expect(() => messageWriter(AllTypesSchema)(message, { registry })).to.throw(
          RangeError,
          new RegExp(`^field jsontypes\\.v1\\.AllTypes\\.${name}: `),
        )
      })

  for (const [what, kind] of [
    ['a text for a number', { case: 'numberValue', value: 'x' }],
    ['NaN', { case: 'numberValue', value: Number.NaN }],
    ['a number for a text', { case: 'stringValue', value: 7 }],
    ['a text for a flag', { case: 'boolValue', value: 'x' }],
    ['a list that is none', { case: 'listValue', value: { values: 'x' } }],
    ['a struct that is none', { case: 'structValue', value: { fields: 'x' } }],
    ['a kind that there is not', { case: 'nope', value: 7 }],
  ] as const)
    it(`refuses a google.protobuf.Value that holds ${what}`, () => {
      const optionalValue = create(ValueSchema)
      Object.assign(optionalValue, { kind })
      expect(() => write({ optionalValue })).to.throw(
        RangeError,
        'field jsontypes.v1.AllTypes.optional_value: ',
      )
    })

  it('ends soon after a list has more characters than the limit', () => {
    const [set, reads] = repeatedFile()
    const write = messageWriter(FileDescriptorSetSchema)
    expect(() => write(set, { maxCharacters: 10_000 })).to.throw(ResourceExhausted)
    expect(reads()).to.be.lessThan(50)
    expect(write(set, { maxCharacters: 2_000_000 }).length).to.be.greaterThan(1_000_000)
  })

  for (const [desc, seconds, nanos] of [
    [TimestampSchema, Number.NaN, 0],
    [TimestampSchema, 1.5, 0],
    [TimestampSchema, 'x', 0],
    [TimestampSchema, 0n, Number.NaN],
    [TimestampSchema, 0n, 0.5],
    [DurationSchema, Number.NaN, 0],
    [DurationSchema, 1.5, 0],
    [DurationSchema, 'x', 0],
    [DurationSchema, 0n, Number.NaN],
    [DurationSchema, 0n, 0.5],
  ] as const)
    it(`refuses ${desc.name} of ${String(seconds)} seconds and ${nanos} nanoseconds`, () => {
      const time = Object.assign(create(desc as typeof TimestampSchema), { seconds, nanos })
      expect(() => messageWriter(desc)(time, { registry })).to.throw(RangeError)
    })
})

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
