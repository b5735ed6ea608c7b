import { expect } from 'chai'
import { create } from '@bufbuild/protobuf'
import { InvalidArgument } from '../../../lib/errors.js'
import { messageWriter } from '../../../lib/gateway/json/writer.js'
import { queryBinder } from '../../../lib/gateway/transcoding/query-binding.js'
import { parseQuery } from '../../../lib/gateway/transcoding/query-text.js'
import { AllTypesSchema } from '../../support/gen/jsontypes_pb.js'

const FREE = { path: new Set<string>(), body: '' }
const blank = written('')

/** What a query makes of an empty message: the members that are not as they were. */
function written(query: string, bound = FREE): Record<string, unknown> {
  const message = create(AllTypesSchema)
  queryBinder(AllTypesSchema, bound)(message, parseQuery(query))
  return JSON.parse(messageWriter(AllTypesSchema)(message, {})) as Record<string, unknown>
}

const changed = (query: string): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(written(query)).filter(
      ([name, value]) => JSON.stringify(blank[name]) !== JSON.stringify(value),
    ),
  )

describe('queryBinder', () => {
  const QUERY = 'google.api.http: fields not in the path or body become query parameters'
  const NESTED = 'google.api.http: nested fields by their path'
  const REPEATED = 'google.api.http: repeated fields by repeated parameters'
  const JSON_NAME = 'proto3 JSON: both spellings'
  const FORM = 'WHATWG URL 5.1: application/x-www-form-urlencoded'
  for (const [query, wanted, rule] of [
    ['', {}, QUERY],
    ['optional_string=a', { optionalString: 'a' }, QUERY],
    ['optionalString=a', { optionalString: 'a' }, JSON_NAME],
    ['optional_string=', {}, QUERY],
    ['optional_string', {}, FORM],
    ['optional_string=a=b', { optionalString: 'a=b' }, FORM],
    ['optional_string=a+b', { optionalString: 'a b' }, FORM],
    ['optional_string=a%2Bb', { optionalString: 'a+b' }, FORM],
    ['optional_string=%E8%B0%B7', { optionalString: '谷' }, FORM],
    ['optional_string=%00', { optionalString: '\0' }, 'NUL is left to the model'],
    ['optional%5Fstring=a', { optionalString: 'a' }, FORM],
    ['&&optional_string=a&', { optionalString: 'a' }, FORM],
    ['optional_int32=-5', { optionalInt32: -5 }, QUERY],
    ['optional_int32=1e3', { optionalInt32: 1000 }, 'proto3 JSON: exponent notation'],
    ['optional_int32=2147483647', { optionalInt32: 2147483647 }, QUERY],
    ['optional_uint32=4294967295', { optionalUint32: 4294967295 }, QUERY],
    ['optional_sint32=-1', { optionalSint32: -1 }, QUERY],
    ['optional_fixed32=7', { optionalFixed32: 7 }, QUERY],
    ['optional_sfixed32=-7', { optionalSfixed32: -7 }, QUERY],
    ['optional_int64=9223372036854775807', { optionalInt64: '9223372036854775807' }, QUERY],
    ['optional_int64=-9223372036854775808', { optionalInt64: '-9223372036854775808' }, QUERY],
    ['optional_uint64=18446744073709551615', { optionalUint64: '18446744073709551615' }, QUERY],
    ['optional_sint64=-9007199254740993', { optionalSint64: '-9007199254740993' }, QUERY],
    ['optional_fixed64=9007199254740993', { optionalFixed64: '9007199254740993' }, QUERY],
    ['optional_sfixed64=-1', { optionalSfixed64: '-1' }, QUERY],
    ['text_int64=9007199254740993', { textInt64: '9007199254740993' }, 'jstype = JS_STRING'],
    ['optional_float=1.5', { optionalFloat: 1.5 }, QUERY],
    ['optional_float=0.1', { optionalFloat: 0.1 }, 'proto3 JSON: a float has the digits of a float'],
    ['optional_double=1e300', { optionalDouble: 1e300 }, QUERY],
    ['optional_double=NaN', { optionalDouble: 'NaN' }, 'proto3 JSON: NaN'],
    ['optional_double=-Infinity', { optionalDouble: '-Infinity' }, 'proto3 JSON: -Infinity'],
    ['optional_bool=true', { optionalBool: true }, QUERY],
    ['optional_bool=false', {}, QUERY],
    ['optional_bytes=AQI%3D', { optionalBytes: 'AQI=' }, 'proto3 JSON: standard base64'],
    ['optional_bytes=-_8', { optionalBytes: '+/8=' }, 'proto3 JSON: URL-safe base64 without padding'],
    ['optional_bytes=', {}, 'proto3 JSON: base64'],
    ['optional_nested_enum=BAZ', { optionalNestedEnum: 'BAZ' }, 'google.api.http: enums by name'],
    ['optional_nested_enum=2', { optionalNestedEnum: 'BAZ' }, 'google.api.http: enums by number'],
    ['optional_nested_enum=-1', { optionalNestedEnum: 'NEG' }, 'google.api.http: enums by number'],
    ['optional_nested_enum=77', { optionalNestedEnum: 77 }, 'proto3: enums are open'],
    ['optional_aliased_enum=moo', { optionalAliasedEnum: 'ALIAS_BAZ' }, 'proto3: aliases'],
    ['present_string=', { presentString: '' }, 'proto3: optional has presence'],
    ['present_int64=0', { presentInt64: '0' }, 'proto3: optional has presence'],
    ['optional_nested_message.a=3', { optionalNestedMessage: { a: 3 } }, NESTED],
    ['optionalNestedMessage.a=3', { optionalNestedMessage: { a: 3 } }, NESTED],
    [
      'optional_timestamp=2026-01-31T10:00:00.5Z',
      { optionalTimestamp: '2026-01-31T10:00:00.500Z' },
      'proto3 JSON: RFC 3339',
    ],
    [
      'optional_timestamp=2026-01-31T10:00:00%2B02:00',
      { optionalTimestamp: '2026-01-31T08:00:00Z' },
      'proto3 JSON: RFC 3339',
    ],
    ['optional_duration=-1.25s', { optionalDuration: '-1.250s' }, 'proto3 JSON: Duration'],
    ['optional_field_mask=a,b_c', { optionalFieldMask: 'a,bC' }, 'one comma-joined parameter'],
    ['optional_field_mask=a,bC', { optionalFieldMask: 'a,bC' }, JSON_NAME],
    ['optional_field_mask=a&optional_field_mask=b', { optionalFieldMask: 'a,b' }, REPEATED],
    ['optional_field_mask=', { optionalFieldMask: '' }, 'proto3 JSON: FieldMask'],
    ['optional_bool_wrapper=false', { optionalBoolWrapper: false }, 'proto3 JSON: wrappers are their value'],
    ['optional_int32_wrapper=0', { optionalInt32Wrapper: 0 }, 'proto3 JSON: wrappers are their value'],
    ['optional_int64_wrapper=-1', { optionalInt64Wrapper: '-1' }, 'proto3 JSON: wrappers are their value'],
    ['optional_uint32_wrapper=1', { optionalUint32Wrapper: 1 }, 'proto3 JSON: wrappers are their value'],
    ['optional_uint64_wrapper=1', { optionalUint64Wrapper: '1' }, 'proto3 JSON: wrappers are their value'],
    ['optional_float_wrapper=0.5', { optionalFloatWrapper: 0.5 }, 'proto3 JSON: wrappers are their value'],
    ['optional_double_wrapper=0.5', { optionalDoubleWrapper: 0.5 }, 'proto3 JSON: wrappers are their value'],
    ['optional_string_wrapper=', { optionalStringWrapper: '' }, 'proto3 JSON: wrappers are their value'],
    ['optional_bytes_wrapper=AQI', { optionalBytesWrapper: 'AQI=' }, 'proto3 JSON: wrappers are their value'],
    ['repeated_string=a&repeated_string=b', { repeatedString: ['a', 'b'] }, REPEATED],
    ['repeated_string=a&repeatedString=b', { repeatedString: ['a', 'b'] }, JSON_NAME],
    ['repeated_string=a,b', { repeatedString: ['a,b'] }, 'google.api.http: no splitting at commas'],
    ['repeated_string=', { repeatedString: [''] }, REPEATED],
    ['repeated_int32=1&repeated_int32=2', { repeatedInt32: [1, 2] }, REPEATED],
    ['repeated_bool=true&repeated_bool=false', { repeatedBool: [true, false] }, REPEATED],
    ['repeated_nested_enum=BAR&repeated_nested_enum=0', { repeatedNestedEnum: ['BAR', 'FOO'] }, REPEATED],
    ['repeated_timestamp=1970-01-01T00:00:00Z', { repeatedTimestamp: ['1970-01-01T00:00:00Z'] }, REPEATED],
    ['repeated_duration=1s&repeated_duration=2s', { repeatedDuration: ['1s', '2s'] }, REPEATED],
    ['repeated_bool_wrapper=true', { repeatedBoolWrapper: [true] }, REPEATED],
    ['repeated_string_wrapper=x', { repeatedStringWrapper: ['x'] }, REPEATED],
    ['map_string_string[a]=b', { mapStringString: { a: 'b' } }, 'map entries as name[key]'],
    ['mapStringString[a]=b&map_string_string[c]=d', { mapStringString: { a: 'b', c: 'd' } }, JSON_NAME],
    ['map_string_string%5Ba%5D=b', { mapStringString: { a: 'b' } }, FORM],
    ['map_string_string[]=b', { mapStringString: { '': 'b' } }, 'map entries as name[key]'],
    ['map_string_string[a.b]=c', { mapStringString: { 'a.b': 'c' } }, 'a key is any text'],
    ['map_string_string[a[0]]=c', { mapStringString: { 'a[0]': 'c' } }, 'a key is any text'],
    ['map_int32_int32[-1]=2', { mapInt32Int32: { '-1': 2 } }, 'map entries as name[key]'],
    ['map_bool_bool[true]=false', { mapBoolBool: { true: false } }, 'map entries as name[key]'],
    ['map_string_nested_enum[x]=BAR', { mapStringNestedEnum: { x: 'BAR' } }, 'map entries as name[key]'],
    ['map_string_bytes[x]=AQI', { mapStringBytes: { x: 'AQI=' } }, 'map entries as name[key]'],
    ['oneof_string=a', { oneofString: 'a' }, 'proto3: oneof'],
    ['oneof_uint32=0', { oneofUint32: 0 }, 'proto3: a oneof has presence'],
    ['oneof_bool=false', { oneofBool: false }, 'proto3: a oneof has presence'],
    ['oneof_nested_message.a=1', { oneofNestedMessage: { a: 1 } }, NESTED],
    ['fieldname1=1&field_name2=2&FieldName3=3', { fieldname1: 1, fieldName2: 2, FieldName3: 3 }, JSON_NAME],
  ] as const)
    it(`reads ${query === '' ? 'an empty query' : query} (${rule})`, () => {
      expect(changed(query)).to.deep.equal(wanted)
    })

  it('keeps __proto__ as a key like any other', () => {
    const message = create(AllTypesSchema)
    queryBinder(AllTypesSchema, FREE)(message, parseQuery('map_string_string[__proto__]=x'))
    expect(Object.keys(message.mapStringString)).to.deep.equal(['__proto__'])
    expect(Object.getPrototypeOf(message.mapStringString)).not.to.equal('x')
  })

  const UNKNOWN = 'unknown query parameters are refused'
  for (const [query, field, rule] of [
    ['nope=1', 'nope', UNKNOWN],
    ['=1', '', UNKNOWN],
    ['optional_string.x=1', 'optional_string.x', UNKNOWN],
    ['optional_nested_message.nope=1', 'optional_nested_message.nope', UNKNOWN],
    ['optional_timestamp.seconds=1', 'optional_timestamp.seconds', 'proto3 JSON: a Timestamp is one string'],
    [
      'optional_string_wrapper.value=1',
      'optional_string_wrapper.value',
      'proto3 JSON: wrappers are their value',
    ],
    ['__proto__=1', '__proto__', UNKNOWN],
    ['constructor=1', 'constructor', UNKNOWN],
    ['toString=1', 'toString', UNKNOWN],
    ['OPTIONAL_STRING=1', 'OPTIONAL_STRING', UNKNOWN],
    ['repeated_string[0]=1', 'repeated_string', 'only maps have brackets'],
    ['optional_string[a]=1', 'optional_string', 'only maps have brackets'],
    ['map_string_string=1', 'map_string_string', 'map entries as name[key]'],
    ['map_string_string[a]=1&map_string_string[a]=2', 'map_string_string["a"]', 'a key is given once'],
    ['map_int32_int32[x]=1', 'map_int32_int32[x]', 'the key is of its type'],
    ['map_int32_int32[1]=x', 'map_int32_int32[1]', 'the value is of its type'],
    ['map_string_nested_message[a]=1', 'map_string_nested_message', 'google.api.http: no repeated messages'],
    ['optional_nested_message=1', 'optional_nested_message', 'google.api.http: a message by its fields'],
    ['repeated_nested_message=1', 'repeated_nested_message', 'google.api.http: no repeated messages'],
    ['repeated_nested_message.a=1', 'repeated_nested_message.a', 'google.api.http: no repeated messages'],
    ['optional_struct=%7B%7D', 'optional_struct', 'a Struct has no text'],
    ['optional_any=%7B%7D', 'optional_any', 'an Any has no text'],
    ['optional_value=1', 'optional_value', 'a Value has no text'],
    ['optional_string=a&optional_string=b', 'optional_string', 'a singular field is given once'],
    ['optional_string=a&optionalString=b', 'optional_string', 'a singular field is given once'],
    [
      'optional_nested_message.a=1&optional_nested_message.a=1',
      'optional_nested_message.a',
      'a singular field is given once',
    ],
    ['oneof_string=a&oneof_uint32=1', 'oneof_uint32', 'proto3: one of a oneof'],
    ['oneof_string=a&oneof_nested_message.a=1', 'oneof_nested_message.a', 'proto3: one of a oneof'],
    ['oneof_nested_message.a=1&oneof_string=a', 'oneof_string', 'proto3: one of a oneof'],
    ['optional_int32=', 'optional_int32', 'proto3 JSON: numbers'],
    ['optional_int32=1.5', 'optional_int32', 'proto3 JSON: numbers'],
    ['optional_int32=0x10', 'optional_int32', 'proto3 JSON: numbers'],
    ['optional_int32=+5', 'optional_int32', 'proto3 JSON: numbers'],
    ['optional_int32=05', 'optional_int32', 'proto3 JSON: numbers'],
    ['optional_int32=2147483648', 'optional_int32', 'proto3 JSON: range'],
    ['optional_int32=1e99999999', 'optional_int32', 'proto3 JSON: range'],
    ['optional_uint32=-1', 'optional_uint32', 'proto3 JSON: range'],
    ['optional_int64=9223372036854775808', 'optional_int64', 'proto3 JSON: range'],
    ['optional_uint64=18446744073709551616', 'optional_uint64', 'proto3 JSON: range'],
    ['optional_float=1e39', 'optional_float', 'proto3 JSON: range'],
    ['optional_double=1e309', 'optional_double', 'proto3 JSON: range'],
    ['optional_double=inf', 'optional_double', 'proto3 JSON: Infinity is spelled out'],
    ['optional_bool=1', 'optional_bool', 'proto3 JSON: true or false'],
    ['optional_bool=TRUE', 'optional_bool', 'proto3 JSON: true or false'],
    ['optional_bool', 'optional_bool', 'proto3 JSON: true or false'],
    ['optional_bytes=A', 'optional_bytes', 'RFC 4648: no such length'],
    ['optional_bytes=AQ=', 'optional_bytes', 'RFC 4648: padding'],
    ['optional_bytes=A+I=', 'optional_bytes', 'a plus in a query is a space'],
    ['optional_nested_enum=NOPE', 'optional_nested_enum', 'proto3 JSON: enum names'],
    ['optional_nested_enum=foo', 'optional_nested_enum', 'proto3 JSON: enum names'],
    ['optional_nested_enum=', 'optional_nested_enum', 'proto3 JSON: enum names'],
    ['optional_nested_enum=99999999999', 'optional_nested_enum', 'proto3: enums are 32 bits'],
    ['optional_timestamp=2026-01-31', 'optional_timestamp', 'proto3 JSON: RFC 3339'],
    ['optional_timestamp=2026-01-31T10:00:00+02:00', 'optional_timestamp', 'a plus in a query is a space'],
    ['optional_timestamp=2026-02-30T10:00:00Z', 'optional_timestamp', 'proto3 JSON: RFC 3339'],
    ['optional_duration=5', 'optional_duration', 'proto3 JSON: Duration'],
    ['optional_duration=1.0000000001s', 'optional_duration', 'proto3 JSON: Duration has nine decimals'],
    ['repeated_int32=1&repeated_int32=x', 'repeated_int32[1]', 'proto3 JSON: numbers'],
    [`${'recursive.'.repeat(40)}optional_int32=1`, undefined, 'nesting is bounded'],
  ] as const)
    it(`refuses ${query.slice(0, 80)} (${rule})`, () => {
      expect(() => changed(query))
        .to.throw(InvalidArgument)
        .that.satisfies(
          (error: InvalidArgument) => field === undefined || error.field === field,
          `the field ${field}`,
        )
    })

  for (const [query, rule] of [
    ['optional_string=%', 'RFC 3986 2.1: an escape has two digits'],
    ['optional_string=%zz', 'RFC 3986 2.1: an escape is hexadecimal'],
    ['optional_string=%ff', 'RFC 3629: not UTF-8'],
    ['optional_string=%ed%a0%80', 'RFC 3629: a surrogate'],
    ['%ff=1', 'RFC 3629: not UTF-8'],
  ] as const)
    it(`refuses ${query} (${rule})`, () => {
      expect(() => changed(query)).to.throw(InvalidArgument, 'not UTF-8')
    })

  for (const [query, bound, rule] of [
    [
      'optional_string=a',
      { path: new Set(['optional_string']), body: '' },
      'google.api.http: the path has it',
    ],
    [
      'optional_nested_message.a=1',
      { path: new Set(['optional_nested_message.a']), body: '' },
      'google.api.http: the path has it',
    ],
    [
      'optional_string=a',
      { path: new Set<string>(), body: '*' },
      'google.api.http: with body "*" nothing is left',
    ],
    [
      'optional_nested_message.a=1',
      { path: new Set<string>(), body: 'optional_nested_message' },
      'google.api.http: the body has it',
    ],
  ] as const)
    it(`refuses ${query} where ${bound.body === '' ? 'the path binds it' : `the body is ${bound.body}`} (${rule})`, () => {
      expect(() => written(query, bound)).to.throw(InvalidArgument)
    })

  it('leaves the neighbours of what path and body bind', () => {
    const bound = { path: new Set(['optional_nested_message.a']), body: 'optional_struct' }
    expect(
      written('optional_nested_message.corecursive.optional_int32=1', bound).optionalNestedMessage,
    ).to.have.nested.property('corecursive.optionalInt32', 1)
  })
})
