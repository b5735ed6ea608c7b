import { create } from '@bufbuild/protobuf'
import { expect } from 'chai'
import { InvalidArgument } from '../../../lib/errors.js'
import { pick, type ReadTree, readTree } from '../../../lib/server/methods/read-tree.js'
import { AllTypesSchema } from '../../support/gen/jsontypes_pb.js'

describe('the paths of a read mask below a map', () => {
  const message = create(AllTypesSchema, {
    mapStringString: { envKey: '1', 'a.b': '2', '*': '3', 'x`y': '4' },
    mapInt32Int32: { 7: 70, 8: 80 },
    mapBoolBool: { true: false },
    mapStringNestedMessage: { k: { a: 5 }, 'k.a': { a: 6 }, other: { a: 7 } },
  })
  const read = (...paths: string[]) => {
    const tree = readTree(paths, AllTypesSchema)
    const { mapStringString, mapInt32Int32, mapBoolBool, mapStringNestedMessage } =
      tree === undefined ? message : (pick(message, tree, AllTypesSchema) as typeof message)
    const nested = Object.entries(mapStringNestedMessage).map(([key, { a }]) => `${key}=${a}`)
    return [{ ...mapStringString, ...mapInt32Int32, ...mapBoolBool }, nested.join()]
  }

  it('select a part of free-form JSON by its keys', () => {
    const json = create(AllTypesSchema, { optionalStruct: { fields: { a: 1, b: 2 }, other: 3 } })
    const tree = readTree(['optional_struct.fields.a'], AllTypesSchema)
    const { optionalStruct } = pick(json, tree as ReadTree, AllTypesSchema) as typeof json
    expect(optionalStruct).to.deep.equal({ fields: { a: 1 } })
  })

  for (const [path, scalars, nested] of [
    ['map_string_string.envKey', { envKey: '1' }, ''],
    ['map_string_string.a.b', { 'a.b': '2' }, ''],
    ['map_string_string.`a.b`', { 'a.b': '2' }, ''],
    ['map_string_string.`*`', { '*': '3' }, ''],
    ['map_string_string.`x`y`', { 'x`y': '4' }, ''],
    ['map_string_string.missing', {}, ''],
    ['map_int32_int32.7', { 7: 70 }, ''],
    ['map_int32_int32.`8`', { 8: 80 }, ''],
    ['map_bool_bool.true', { true: false }, ''],
    ['map_string_nested_message.k', {}, 'k=5'],
    ['map_string_nested_message.k.a', {}, 'k=5'],
    ['map_string_nested_message.`k.a`', {}, 'k.a=6'],
    ['map_string_nested_message.`k.a`.a', {}, 'k.a=6'],
  ] as const)
    it(`${path} selects ${JSON.stringify(scalars)} ${nested}`, () =>
      expect(read(path)).to.deep.equal([scalars, nested]))

  it('select a field of one value, and all of another', () => {
    const paths = ['k.corecursive', 'other', 'other.a'].map((path) => `map_string_nested_message.${path}`)
    expect(read(...paths)).to.deep.equal([{}, 'k=0,other=7'])
  })

  for (const path of [
    'map_string_string.',
    'map_string_string.*',
    'map_string_string.`open',
    'map_string_string.`a`b',
    'map_string_nested_message.*.a',
    'map_string_nested_message.k.missing',
    'map_string_nested_message.`k`.a.b',
    'map_int32_int32.07',
    'map_int32_int32.seven',
    'map_bool_bool.1',
    'optional_int32_wrapper.value',
  ])
    it(`${path} is rejected`, () => expect(() => read(path)).to.throw(InvalidArgument))
})
