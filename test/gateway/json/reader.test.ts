import { expect } from 'chai'
import { InvalidArgument } from '../../../lib/errors.js'
import { invalidAt } from '../../../lib/gateway/json/fault.js'
import { parseJson } from '../../../lib/gateway/json/parse.js'
import { messageReader } from '../../../lib/gateway/json/reader.js'
import { registryOf } from '../../../lib/gateway/json/type-registry.js'
import { type AllTypes, AllTypesSchema, TypesService } from '../../support/gen/jsontypes_pb.js'

const registry = registryOf(TypesService.methods)
const read = (json: string): AllTypes => {
  try {
    return messageReader(AllTypesSchema)(parseJson(json), { registry }) as AllTypes
  } catch (error) {
    throw invalidAt('', error)
  }
}

describe('messageReader', () => {
  it('keeps integers beyond 2^53 exact, quoted or not', () => {
    const message = read(
      '{"optionalInt64":9007199254740993,"optionalUint64":"18446744073709551615","repeatedInt64":[9.007199254740993e15,-9223372036854775808]}',
    )
    expect(message.optionalInt64).to.equal(9007199254740993n)
    expect(message.optionalUint64).to.equal(18446744073709551615n)
    expect(message.repeatedInt64).to.deep.equal([9007199254740993n, -9223372036854775808n])
  })

  it('rounds a float to 32 bits', () => {
    expect(read('{"optionalFloat":0.1}').optionalFloat).to.equal(Math.fround(0.1))
  })

  it('reads what generated code keeps bare: wrappers and structs', () => {
    const message = read('{"optionalStringWrapper":"x","optionalStruct":{"a":[1,{"__proto__":null}]}}')
    expect(message.optionalStringWrapper).to.equal('x')
    expect(JSON.stringify(message.optionalStruct)).to.equal('{"a":[1,{"__proto__":null}]}')
  })

  it('keeps __proto__ as a map key like any other', () => {
    expect(Object.keys(read('{"mapStringString":{"__proto__":"x"}}').mapStringString)).to.deep.equal([
      '__proto__',
    ])
  })

  const TYPE = 'proto3 JSON: the JSON type of the field'
  for (const [json, field, rule] of [
    ['[]', '', TYPE],
    ['"x"', '', TYPE],
    ['null', '', 'proto3 JSON: a message is an object'],
    ['{"nope":1}', 'nope', 'unknown fields are refused'],
    ['{"__proto__":{"a":1}}', '__proto__', 'unknown fields are refused'],
    ['{"constructor":1}', 'constructor', 'unknown fields are refused'],
    ['{"OptionalString":"x"}', 'OptionalString', 'proto3 JSON: the two spellings, no third'],
    ['{"optionalNestedMessage":{"nope":1}}', 'optional_nested_message.nope', 'unknown fields are refused'],
    ['{"optionalString":"a","optional_string":"b"}', 'optional_string', 'proto3 JSON: one of the spellings'],
    ['{"optionalString":1}', 'optional_string', TYPE],
    ['{"optionalString":true}', 'optional_string', TYPE],
    ['{"optionalString":{}}', 'optional_string', TYPE],
    ['{"optionalString":[]}', 'optional_string', TYPE],
    ['{"optionalInt32":"x"}', 'optional_int32', TYPE],
    ['{"optionalInt32":[]}', 'optional_int32', TYPE],
    ['{"optionalInt32":{}}', 'optional_int32', TYPE],
    ['{"optionalInt32":true}', 'optional_int32', TYPE],
    ['{"optionalInt32":3000000000}', 'optional_int32', 'proto3 JSON: range'],
    ['{"optionalInt64":1e19}', 'optional_int64', 'proto3 JSON: range'],
    ['{"optionalInt64":1.5}', 'optional_int64', 'proto3 JSON: no fraction'],
    ['{"optionalUint64":-1}', 'optional_uint64', 'proto3 JSON: range'],
    ['{"optionalUint64":1e999999999}', 'optional_uint64', 'proto3 JSON: range'],
    ['{"optionalUint64":1e9999999999}', 'optional_uint64', 'proto3 JSON: range'],
    ['{"optionalDouble":1e400}', 'optional_double', 'proto3 JSON: range'],
    ['{"optionalDouble":"-"}', 'optional_double', TYPE],
    ['{"optionalDouble":[]}', 'optional_double', TYPE],
    ['{"optionalBool":"true"}', 'optional_bool', TYPE],
    ['{"optionalBool":1}', 'optional_bool', TYPE],
    ['{"optionalBytes":"*"}', 'optional_bytes', 'RFC 4648'],
    ['{"optionalBytes":"AQ=I"}', 'optional_bytes', 'RFC 4648'],
    ['{"optionalBytes":1}', 'optional_bytes', TYPE],
    ['{"optionalNestedEnum":"NOPE"}', 'optional_nested_enum', 'proto3 JSON: enum names'],
    ['{"optionalNestedEnum":1.5}', 'optional_nested_enum', 'proto3 JSON: enum numbers'],
    ['{"optionalNestedEnum":{}}', 'optional_nested_enum', TYPE],
    ['{"repeatedInt32":[1,"x"]}', 'repeated_int32[1]', 'the index is named'],
    ['{"repeatedInt32":{"0":1}}', 'repeated_int32', TYPE],
    ['{"repeatedNestedMessage":[{},{"a":"x"}]}', 'repeated_nested_message[1].a', 'the index is named'],
    ['{"mapInt32Int32":{"1":"x"}}', 'map_int32_int32[1]', 'the key is named'],
    ['{"mapInt32Int32":{"1.5":1}}', 'map_int32_int32[1.5]', 'proto3 JSON: keys are of their type'],
    ['{"mapInt32Int32":{"1":1,"1e0":2}}', 'map_int32_int32[1e0]', 'a key is given once'],
    ['{"mapBoolBool":{"yes":true}}', 'map_bool_bool[yes]', 'proto3 JSON: keys are of their type'],
    ['{"mapStringNestedMessage":{"k":{"a":"x"}}}', 'map_string_nested_message["k"].a', 'the key is named'],
    ['{"mapStringString":[]}', 'map_string_string', TYPE],
    ['{"oneofString":"a","oneofBool":false}', 'oneof_bool', 'proto3: one of a oneof'],
    ['{"optionalTimestamp":0}', 'optional_timestamp', TYPE],
    ['{"optionalTimestamp":"now"}', 'optional_timestamp', 'RFC 3339'],
    ['{"optionalDuration":"1.5"}', 'optional_duration', 'proto3 JSON: Duration ends in s'],
    ['{"optionalDuration":"1sx"}', 'optional_duration', 'proto3 JSON: Duration ends in s'],
    ['{"optionalDuration":"1.0000000001s"}', 'optional_duration', 'proto3 JSON: nine decimals'],
    ['{"optionalDuration":"-s"}', 'optional_duration', 'proto3 JSON: Duration has digits'],
    ['{"optionalFieldMask":["a"]}', 'optional_field_mask', TYPE],
    ['{"optionalFieldMask":"a,,b"}', 'optional_field_mask', 'proto3 JSON: FieldMask'],
    ['{"optionalStruct":1}', 'optional_struct', TYPE],
    ['{"optionalStruct":{"a":1e400}}', 'optional_struct', 'a Struct holds doubles'],
    ['{"repeatedListValue":[1]}', 'repeated_list_value[0]', TYPE],
    [
      '{"optionalInt32Wrapper":{"value":1}}',
      'optional_int32_wrapper',
      'proto3 JSON: wrappers are their value',
    ],
    ['{"optionalAny":[]}', 'optional_any', TYPE],
    ['{"optionalAny":{"a":1}}', 'optional_any.@type', 'proto3 JSON: Any has @type'],
    ['{"optionalAny":{"@type":"type.googleapis.com/nope"}}', 'optional_any.@type', 'only registered types'],
    [
      '{"optionalAny":{"@type":"type.googleapis.com/google.protobuf.Duration"}}',
      'optional_any',
      'proto3 JSON: special types under value',
    ],
    [
      '{"optionalAny":{"@type":"type.googleapis.com/jsontypes.v1.AllTypes","optionalInt32":"x"}}',
      'optional_any.optional_int32',
      TYPE,
    ],
  ] as const)
    it(`refuses ${json} at ${field === '' ? 'the document' : field} (${rule})`, () => {
      expect(() => read(json))
        .to.throw(InvalidArgument)
        .with.property('field', field)
    })

  it('never repeats a value in its error', () => {
    expect(() => read('{"optionalInt32":"hunter2"}'))
      .to.throw(InvalidArgument)
      .with.property('message')
      .that.does.not.include('hunter2')
  })

  it('cuts a long unknown name', () => {
    expect(() => read(JSON.stringify({ ['x'.repeat(5000)]: 1 })))
      .to.throw(InvalidArgument)
      .with.property('message')
      .of.length.below(100)
  })
})
