import {
  create,
  createFileRegistry,
  createRegistry,
  type DescMessage,
  type Message,
  toJson,
} from '@bufbuild/protobuf'
import {
  type Any,
  anyPack,
  AnySchema,
  anyUnpack,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  type FieldMask,
  FieldMaskSchema,
  file_google_protobuf_field_mask,
  FileDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { parseJson } from '../../../lib/gateway/json/parse.js'
import { messageReader } from '../../../lib/gateway/json/reader.js'
import { messageWriter } from '../../../lib/gateway/json/writer.js'
import { queryBinder } from '../../../lib/gateway/transcoding/query-binding.js'
import { parseQuery } from '../../../lib/gateway/transcoding/query-text.js'
import { writableJson } from '../../../lib/server/connect/writable-json.js'

/** Proto names with the JSON names that protoc gives them. */
const NAMES: readonly (readonly [string, string])[] = [
  ['display_name', 'displayName'],
  ['address_line_2', 'addressLine2'],
  ['fooBar', 'fooBar'],
  ['URL', 'URL'],
  ['ipV4_addr', 'ipV4Addr'],
  ['a__b', 'aB'],
  ['_private', 'Private'],
  ['trailing_', 'trailing'],
  ['x_1_y', 'x1Y'],
  ['renamed', 'other_name'],
]

describe('the names of fields in a FieldMask', () => {
  const { Thing, Update, Answer } = messages()

  for (const [proto, json] of [
    ...NAMES,
    ['inner.address_line_2', 'inner.addressLine2'],
    ['inner.inner.URL', 'inner.inner.URL'],
    ['labels.some_key', 'labels.some_key'],
    ['labels.someKey', 'labels.someKey'],
    ['things.*.address_line_2', 'things.*.addressLine2'],
    ['not_a_field', 'notAField'],
  ] as const) {
    it(`${proto} is ${json} in JSON, and comes back`, () => {
      expect(read(JSON.stringify({ updateMask: json })), 'JSON').to.deep.equal([proto])
      expect(fromQuery(`update_mask=${json}`), 'query').to.deep.equal([proto])
      const mask = create(FieldMaskSchema, { paths: [proto] })
      const text = messageWriter(Update)(Object.assign(create(Update), { updateMask: mask }), {})
      expect(JSON.parse(text)).to.deep.include({ updateMask: json })
    })
  }

  it('are written in a response that has the mask alone, in JSON of each protocol', () => {
    const paths = [...NAMES.map(([proto]) => proto), 'inner.address_line_2']
    const applied = [...NAMES.map(([, json]) => json), 'inner.addressLine2'].join(',')
    const answer = Object.assign(create(Answer), { applied: create(FieldMaskSchema, { paths }) })
    expect(JSON.parse(messageWriter(Answer)(answer, {}))).to.deep.equal({ applied })
    expect(toJson(Answer, writableJson(Answer, answer, createRegistry()))).to.deep.equal({ applied })
  })

  it('of the field beside the mask decide in JSON of Connect as well', () => {
    const mask = create(FieldMaskSchema, { paths: NAMES.map(([proto]) => proto) })
    const update = Object.assign(create(Update), { updateMask: mask })
    expect(toJson(Update, writableJson(Update, update, createRegistry()))).to.deep.equal({
      updateMask: NAMES.map(([, json]) => json).join(','),
    })
    expect(mask.paths).to.deep.equal(NAMES.map(([proto]) => proto))
  })

  it('are taken in proto spelling as well, where they are those of a field', () => {
    for (const [proto] of NAMES) {
      expect(read(JSON.stringify({ update_mask: proto })), proto).to.deep.equal([proto])
      expect(fromQuery(`update_mask=${proto}`), proto).to.deep.equal([proto])
    }
    expect(() => read('{"updateMask":"not_a_field"}')).to.throw('lowerCamelCase')
  })

  it('decide inside of an Any as well, in JSON of each protocol, in both directions', () => {
    const types = createRegistry(Update, Answer, FieldMaskSchema)
    for (const [proto, json] of NAMES)
      for (const [desc, local] of [
        [Update, 'updateMask'],
        [Answer, 'applied'],
      ] as const) {
        const mask = create(FieldMaskSchema, { paths: [proto] })
        const any = anyPack(desc, Object.assign(create(desc), { [local]: mask }))
        const held = { '@type': any.typeUrl, [local]: json }
        const text = messageWriter(AnySchema)(any, { registry: types })
        expect(JSON.parse(text), proto).to.deep.include(held)
        const copy = writableJson(AnySchema, any, types)
        // The package reads the mask from the Any, and maps the names itself: it cannot write this one.
        if (!json.includes('_'))
          expect(toJson(AnySchema, copy as Any, { registry: types }), proto).to.deep.include(held)
        const back = messageReader(AnySchema)(parseJson(text), { registry: types, answer: Thing })
        const inside = anyUnpack(back as Any, desc)
        expect(inside && pathsOf(inside, local), proto).to.deep.equal([proto])
      }
  })

  it('of a read mask are those of the answer', () => {
    const answer = Thing
    const request = messageReader(Update)(parseJson('{"readMask":"addressLine2,URL"}'), { answer })
    expect(pathsOf(request, 'readMask')).to.deep.equal(['address_line_2', 'URL'])
    expect(fromQuery('read_mask=addressLine2,URL&read_mask=fooBar', 'readMask')).to.deep.equal([
      'address_line_2',
      'URL',
      'fooBar',
    ])
  })

  const pathsOf = (request: Message, name: string) =>
    (request as unknown as Record<string, FieldMask>)[name]?.paths
  const read = (json: string) => pathsOf(messageReader(Update)(parseJson(json), {}), 'updateMask')
  const fromQuery = (query: string, name = 'updateMask') => {
    const request = create(Update)
    queryBinder(Update, { path: new Set(), body: 'thing' }, Thing)(request, parseQuery(query))
    return pathsOf(request, name)
  }
})

function messages(): { readonly [name in 'Thing' | 'Update' | 'Answer']: DescMessage } {
  const field = (name: string, jsonName: string, number: number, typeName = '') => ({
    ...{ name, jsonName, number, label: Label.OPTIONAL, typeName },
    type: typeName === '' ? Type.STRING : Type.MESSAGE,
  })
  const repeated = { label: Label.REPEATED }
  const file = create(FileDescriptorProtoSchema, {
    name: 'masked.proto',
    package: 'masked.v1',
    syntax: 'proto3',
    dependency: ['google/protobuf/field_mask.proto'],
    messageType: [
      {
        name: 'Thing',
        field: [
          ...NAMES.map(([name, jsonName], at) => field(name, jsonName, at + 1)),
          field('inner', 'inner', 50, '.masked.v1.Thing'),
          { ...field('labels', 'labels', 51, '.masked.v1.Thing.LabelsEntry'), ...repeated },
          { ...field('things', 'things', 52, '.masked.v1.Thing'), ...repeated },
        ],
        nestedType: [
          {
            name: 'LabelsEntry',
            field: [field('key', 'key', 1), field('value', 'value', 2)],
            options: { mapEntry: true },
          },
        ],
      },
      {
        name: 'UpdateThing',
        field: [
          field('thing', 'thing', 1, '.masked.v1.Thing'),
          field('update_mask', 'updateMask', 2, '.google.protobuf.FieldMask'),
          field('read_mask', 'readMask', 3, '.google.protobuf.FieldMask'),
        ],
      },
      {
        name: 'Answer',
        field: [field('applied', 'applied', 1, '.google.protobuf.FieldMask')],
      },
    ],
  })
  const registry = createFileRegistry(file, (name) =>
    name === 'google/protobuf/field_mask.proto' ? file_google_protobuf_field_mask.proto : undefined,
  )
  return {
    Thing: registry.getMessage('masked.v1.Thing')!,
    Update: registry.getMessage('masked.v1.UpdateThing')!,
    Answer: registry.getMessage('masked.v1.Answer')!,
  }
}
