import { expect } from 'chai'
import { create, createRegistry, type MessageInitShape } from '@bufbuild/protobuf'
import { anyPack, ValueSchema } from '@bufbuild/protobuf/wkt'
import { messageWriter } from '../../lib/gateway/json-writer.js'
import {
  AllTypesSchema,
  AllTypes_NestedEnum,
  AllTypes_NestedMessageSchema,
} from '../support/gen/jsontypes_pb.js'

type Init = MessageInitShape<typeof AllTypesSchema>

const registry = createRegistry(AllTypesSchema, AllTypes_NestedMessageSchema)
const write = (init: Init): string => messageWriter(AllTypesSchema)(create(AllTypesSchema, init), registry)
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
    [{ optionalString: '\ud800' }, 'optionalString', '"\\ud800"', 'RFC 8259 8.2: half a pair is escaped'],
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
    [{ optionalFieldMask: { paths: ['fooBar'] } }, 'FieldMask round trip'],
    [{ optionalFieldMask: { paths: ['a,b'] } }, 'FieldMask round trip'],
    [{ optionalValue: {} }, 'Value is not empty'],
    [{ optionalStruct: { a: Number.NaN } }, 'Struct has no NaN'],
    [{ optionalAny: { typeUrl: 'type.googleapis.com/nope' } }, 'Any of a known type'],
  ] as readonly (readonly [Init, string])[])
    it(`refuses what JSON cannot say: ${rule}`, () => {
      expect(() => write(init)).to.throw(RangeError)
    })

  it('writes what JSON.parse reads, for every type at once', () => {
    expect(
      JSON.parse(write({ recursive: { recursive: { optionalString: 'deep' } } })),
    ).to.have.nested.property('recursive.recursive.optionalString', 'deep')
  })
})

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
