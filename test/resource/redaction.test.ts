import {
  create,
  createFileRegistry,
  createRegistry,
  type DescMessage,
  type Message,
  type MessageInitShape,
  setExtension,
  toBinary,
} from '@bufbuild/protobuf'
import {
  type Any,
  anyPack,
  AnySchema,
  DescriptorProtoSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  type FieldDescriptorProtoSchema,
  FieldOptionsSchema,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  ListValueSchema,
  StructSchema,
  TimestampSchema,
  ValueSchema,
} from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { randomBytes } from 'node:crypto'
import { FieldSchema, field as fieldOption } from 'ashlar-annotations/ashlar/api/v1/annotations_pb.js'
import {
  isMarkedSecret,
  REDACTED,
  type Redaction,
  redactMessage,
  withoutSecrets,
} from '../../lib/resource/redaction.js'
import {
  BatchUpdateSpecimensRequestSchema,
  CreateSpecimenRequestSchema,
  EchoRequestSchema,
  ListSpecimensResponseSchema,
  SpecimenSchema,
} from '../support/gen/specimens_pb.js'
import { ListEditionsRequestSchema } from '../support/gen/editions_pb.js'
import { ListPersonsRequestSchema, PersonSchema } from '../support/gen/plans_pb.js'

const SECRET = 'whsec-1f9a'
/** In a field marked `debug_redact`: no secret, and nothing for a log. */
const HIDDEN = 'born 1970'

/** A message with a marked field of every shape, made here because no service of ours has one. */
const Vault = makeVault()

/** What resources say of their fields, beside what the fields say themselves. */
const DECLARED = new Set(['specimens.v1.Specimen.webhook_secret', 'specimens.v1.Specimen.api_key'])

const redaction: Redaction = {
  isSecret: (field) => DECLARED.has(`${field.parent.typeName}.${field.name}`) || isMarkedSecret(field),
  types: createRegistry(
    Vault,
    SpecimenSchema,
    ListSpecimensResponseSchema,
    AnySchema,
    StructSchema,
    ValueSchema,
    TimestampSchema,
  ),
}

const show = (desc: DescMessage, message: Message) =>
  redactMessage(redaction, desc, message) as Record<string, unknown>

describe('redactMessage', () => {
  it('shows fields under their proto names and leaves zero values out', () => {
    const message = create(SpecimenSchema, {
      ...{ id: 's1', title: 'A', active: true, count: 2, big: 9007199254740993n, phase: 2, ratio: 0.5 },
      ...{ blob: new Uint8Array(5), labels: ['x', 'y'], tags: { a: '1' }, span: { seconds: 3n, nanos: 1 } },
      ...{ origin: { quarry: 'Q', depth: -1n }, dueTime: { seconds: 1n, nanos: 500_000_000 } },
    })
    expect(show(SpecimenSchema, message)).to.deep.equal({
      ...{
        id: 's1',
        title: 'A',
        active: true,
        count: 2,
        big: '9007199254740993',
        ratio: 0.5,
        blob: '(5 bytes)',
      },
      ...{ phase: 'CUT', due_time: '1970-01-01T00:00:01.500Z', span: { seconds: '3', nanos: 1 } },
      ...{ labels: ['x', 'y'], origin: { quarry: 'Q', depth: '-1' }, tags: { a: '1' } },
    })
  })

  const specimen = { title: 'A', webhookSecret: SECRET, apiKey: `ib_x_${SECRET}` }
  const redacted = { title: 'A', webhook_secret: REDACTED, api_key: REDACTED }
  const embedded: [name: string, desc: DescMessage, init: object, shown: object][] = [
    ['at the top', SpecimenSchema, specimen, redacted],
    [
      'in a request',
      CreateSpecimenRequestSchema,
      { specimen, specimenId: 'i' },
      { specimen: redacted, specimen_id: 'i' },
    ],
    [
      'in a list',
      ListSpecimensResponseSchema,
      { specimens: [specimen, specimen] },
      { specimens: [redacted, redacted] },
    ],
    [
      'in a list of requests',
      BatchUpdateSpecimensRequestSchema,
      { requests: [{ specimen }] },
      { requests: [{ specimen: redacted }] },
    ],
  ]
  for (const [name, desc, init, shown] of embedded) {
    it(`replaces secrets and credentials of resources ${name}`, () => {
      const message = create(desc, init as MessageInitShape<typeof desc>)
      expect(show(desc, message)).to.deep.equal(shown)
    })
  }

  it('replaces marked fields in every shape a field can have', () => {
    const shown = show(Vault, vaultMessage(2))
    expect(JSON.stringify(shown)).not.to.contain(SECRET).and.not.to.contain('1234567')
    expect(shown).to.deep.equal({
      ...{
        plain: 'shown',
        text: REDACTED,
        texts: REDACTED,
        by_name: REDACTED,
        data: REDACTED,
        number: REDACTED,
      },
      ...{ standard: REDACTED, whole: REDACTED, chosen: REDACTED },
      child: { plain: 'shown', text: REDACTED },
      children: [{ plain: 'shown', text: REDACTED }, { text: REDACTED }],
      child_by_name: { k: { plain: 'shown', text: REDACTED } },
    })
  })

  it('shows the chosen member of a oneof', () => {
    const message = create(EchoRequestSchema, { choice: { case: 'right', value: 7 }, words: ['w'] })
    expect(show(EchoRequestSchema, message)).to.deep.equal({ words: ['w'], right: 7 })
  })

  it('cuts long texts, long lists, large maps, deep nesting and large messages', () => {
    const long = create(EchoRequestSchema, {
      text: 'x'.repeat(10_000),
      words: Array.from({ length: 50 }, (_, index) => String(index)),
      labels: Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`k${index}`, 'v'])),
      nested: nest(40),
    })
    const shown = show(EchoRequestSchema, long) as Record<string, unknown[] | Record<string, unknown>>
    expect(shown.text).to.equal(`${'x'.repeat(256)}… (10000 characters)`)
    expect(shown.words).to.have.lengthOf(21).and.to.include('… 30 more')
    expect(Object.keys(shown.labels ?? {})).to.have.lengthOf(21)
    expect(JSON.stringify(shown.nested)).to.contain('[deep]')
    const specimens = Array.from({ length: 20 }, () => ({
      labels: Array.from({ length: 20 }, () => 'x'.repeat(1000)),
      origin: { crew: Array.from({ length: 20 }, () => 'x'.repeat(1000)) },
      tags: Object.fromEntries(Array.from({ length: 20 }, (_, index) => [String(index), 'v'])),
    }))
    const large = show(ListSpecimensResponseSchema, create(ListSpecimensResponseSchema, { specimens }))
    expect(JSON.stringify(large)).to.contain('[cut]').and.to.have.length.lessThan(350_000)
  })

  it('does not open what nobody described', () => {
    const struct = { holder: { apiKey: SECRET } }
    expect(show(Vault, create(Vault, { free: struct } as MessageInitShape<typeof Vault>))).to.deep.equal({
      free: '(1 keys)',
    })
    const kind = { case: 'stringValue', value: SECRET } as const
    const value = create(ValueSchema, { kind })
    const list = create(ListValueSchema, { values: [{ kind }] })
    expect(show(Vault, create(Vault, { value, list } as MessageInitShape<typeof Vault>))).to.deep.equal({
      value: '[value]',
      list: '(1 elements)',
    })
    for (const [desc, message] of [
      [StructSchema, create(StructSchema, { fields: { apiKey: { kind } } })],
      [ValueSchema, value],
      [ListValueSchema, list],
    ] as const)
      expect(redactMessage(redaction, desc, message))
        .to.be.a('string')
        .and.not.to.include(SECRET)
  })

  it('is JSON, whatever a caller named a map key', () => {
    const labels = JSON.parse('{"__proto__":"a","constructor":"b","toString":"c"}') as Record<string, string>
    const message = create(EchoRequestSchema, { number: 1n, data: randomBytes(3) })
    Object.assign(message, { labels })
    const shown = show(EchoRequestSchema, message)
    expect(JSON.stringify(shown)).to.contain('"__proto__":"a"')
    expect(Object.getPrototypeOf(shown.labels)).to.equal(Object.prototype)
  })

  it('shows something for a message that is not what its descriptor says', () => {
    const odd = {
      text: { a: SECRET },
      words: 'none',
      labels: null,
      nested: 3,
      phase: 99,
      at: { seconds: 'x' },
      choice: 5,
    }
    const shown = show(EchoRequestSchema, { $typeName: 'x', ...odd } as unknown as Message)
    expect(shown).to.deep.equal({ text: '[object]', words: 'none', nested: 3, phase: 99, at: 'invalid date' })
  })
})

const TYPE = 'type.googleapis.com/'
const packed = (depth = 0): Any => anyPack(Vault, vaultMessage(depth))
const vault = (init: object): Message => create(Vault, init as MessageInitShape<typeof Vault>)

/** Where a google.protobuf.Any can stand, with one that holds secrets. */
const ANYS: Readonly<Record<string, () => Message>> = {
  'a field': () => vault({ any: packed() }),
  'a list': () => vault({ anys: [packed(), packed(1)] }),
  'a map': () => vault({ anyByName: { a: packed() } }),
  'a oneof': () => vault({ pick: { case: 'chosenAny', value: packed() } }),
  'an embedded message': () => vault({ child: vault({ children: [vault({ any: packed() })] }) }),
  'another Any': () => vault({ any: anyPack(Vault, vault({ any: anyPack(AnySchema, packed()) })) }),
  'an Any of an Any': () => vault({ any: anyPack(AnySchema, anyPack(AnySchema, packed())) }),
}

for (const [where, make] of Object.entries(ANYS))
  describe(`a secret in a google.protobuf.Any in ${where}`, () => {
    it('is not shown', () => {
      const text = JSON.stringify(show(Vault, make()))
      expect(text).to.include(`"@type":"${TYPE}redact.v1.Vault"`).and.to.include('"plain":"shown"')
      for (const hidden of [SECRET, HIDDEN, '1234567']) expect(text).not.to.include(hidden)
    })

    it('is not kept, and all else is', () => {
      const original = make()
      const before = toBinary(Vault, original)
      const { message, isWhole } = withoutSecrets(redaction, Vault, original)
      expect(isWhole).to.equal(true)
      const bytes = Buffer.from(toBinary(Vault, message))
      expect([bytes.includes(SECRET), bytes.includes('shown')]).to.deep.equal([false, true])
      expect(toBinary(Vault, original)).to.deep.equal(before)
    })
  })

describe('a google.protobuf.Any at the top', () => {
  it('is shown as what it holds', () => {
    expect(
      show(AnySchema, anyPack(SpecimenSchema, create(SpecimenSchema, { id: 's', apiKey: SECRET }))),
    ).to.deep.equal({
      '@type': `${TYPE}specimens.v1.Specimen`,
      id: 's',
      api_key: REDACTED,
    })
    expect(show(AnySchema, anyPack(TimestampSchema, create(TimestampSchema, { seconds: 1n })))).to.deep.equal(
      {
        '@type': `${TYPE}google.protobuf.Timestamp`,
        value: '1970-01-01T00:00:01.000Z',
      },
    )
  })
})

describe('a google.protobuf.Any that cannot be read', () => {
  const bytes = new Uint8Array(Buffer.from(`x${SECRET}`))
  const deep = (levels: number): Any => (levels === 0 ? packed() : anyPack(AnySchema, deep(levels - 1)))
  for (const [what, any] of [
    ['is of a type nobody knows', create(AnySchema, { typeUrl: `${TYPE}other.v1.Thing`, value: bytes })],
    ['has no type', create(AnySchema, { value: bytes })],
    ['is malformed', create(AnySchema, { typeUrl: `${TYPE}redact.v1.Vault`, value: bytes })],
    ['is too deep', deep(50)],
  ] as const) {
    it(`because it ${what} is shown without its content`, () => {
      expect(JSON.stringify(show(Vault, vault({ any })))).not.to.include(SECRET)
    })

    it(`because it ${what} is kept without its content, and says so`, () => {
      const { message, isWhole } = withoutSecrets(redaction, Vault, vault({ plain: 'shown', any }))
      expect(isWhole).to.equal(false)
      const kept = Buffer.from(toBinary(Vault, message))
      expect([kept.includes(SECRET), kept.includes('shown')]).to.deep.equal([false, true])
    })
  }
})

describe('withoutSecrets', () => {
  it('takes them out of every shape a field can have, and leaves the message as it was', () => {
    const original = vaultMessage(2)
    const before = toBinary(Vault, original)
    const { message } = withoutSecrets(redaction, Vault, original)
    const bytes = Buffer.from(toBinary(Vault, message))
    // `debug_redact` is for logs alone: an answer that is kept has to be the same again.
    expect(bytes.includes(SECRET)).to.equal(false)
    expect(message).to.include({ standard: HIDDEN, plain: 'shown' })
    expect(toBinary(Vault, original)).to.deep.equal(before)
  })

  it('takes a marked Struct and a marked Any whole, and leaves other Structs', () => {
    const { message, isWhole } = withoutSecrets(
      redaction,
      Vault,
      vault({ free: { kept: [1, { a: 'b' }] }, secretFree: { key: SECRET }, secretAny: packed() }),
    )
    expect(isWhole).to.equal(true)
    expect(message).to.deep.include({ free: { kept: [1, { a: 'b' }] } })
    expect(message).not.to.have.any.keys('secretFree', 'secretAny')
  })

  it('is the message itself where it can hold none', () => {
    const message = create(TimestampSchema, { seconds: 1n })
    expect(withoutSecrets(redaction, TimestampSchema, message)).to.deep.equal({ message, isWhole: true })
    expect(withoutSecrets(redaction, TimestampSchema, message).message).to.equal(message)
  })

  it('leaves an Any of a type without secrets as it is, bytes and all', () => {
    const any = anyPack(TimestampSchema, create(TimestampSchema, { seconds: 1n }))
    const odd = create(AnySchema, { typeUrl: any.typeUrl, value: new Uint8Array([...any.value, 0x78, 1]) })
    const { message, isWhole } = withoutSecrets(redaction, Vault, vault({ any: odd }))
    expect([isWhole, (message as unknown as { any: Any }).any.value]).to.deep.equal([true, odd.value])
  })
})

function nest(depth: number): MessageInitShape<typeof EchoRequestSchema>['nested'] {
  return depth === 0 ? { leaf: 'end' } : ({ leaf: 'x', inner: nest(depth - 1) } as never)
}

function vaultMessage(depth: number): Message {
  const child = vault({ plain: 'shown', text: SECRET })
  return create(Vault, {
    ...{
      plain: 'shown',
      text: SECRET,
      texts: [SECRET],
      byName: { [SECRET]: SECRET },
      data: Buffer.from(SECRET),
    },
    ...{ number: 1234567n, standard: HIDDEN, whole: child, pick: { case: 'chosen', value: SECRET } },
    ...(depth === 0 ? {} : { child, children: [child, vault({ text: SECRET })] }),
    childByName: { k: child },
  } as MessageInitShape<typeof Vault>)
}

function makeVault(): DescMessage {
  type FieldInit = MessageInitShape<typeof FieldDescriptorProtoSchema>
  const options = create(FieldOptionsSchema)
  setExtension(options, fieldOption, create(FieldSchema, { secret: true }))
  const own = '.redact.v1.Vault'
  const repeated = { label: Label.REPEATED }
  const fields: FieldInit[] = [
    { name: 'plain', type: Type.STRING },
    { name: 'text', type: Type.STRING, options },
    { name: 'texts', type: Type.STRING, ...repeated, options },
    { name: 'by_name', type: Type.MESSAGE, typeName: `${own}.ByNameEntry`, ...repeated, options },
    { name: 'data', type: Type.BYTES, options },
    { name: 'number', type: Type.INT64, options },
    { name: 'standard', type: Type.STRING, options: create(FieldOptionsSchema, { debugRedact: true }) },
    { name: 'whole', type: Type.MESSAGE, typeName: own, options },
    { name: 'chosen', type: Type.STRING, oneofIndex: 0, options },
    { name: 'other', type: Type.STRING, oneofIndex: 0 },
    { name: 'child', type: Type.MESSAGE, typeName: own },
    { name: 'children', type: Type.MESSAGE, typeName: own, ...repeated },
    { name: 'child_by_name', type: Type.MESSAGE, typeName: `${own}.ChildByNameEntry`, ...repeated },
    { name: 'free', type: Type.MESSAGE, typeName: '.google.protobuf.Struct' },
    { name: 'secret_free', type: Type.MESSAGE, typeName: '.google.protobuf.Struct', options },
    { name: 'value', type: Type.MESSAGE, typeName: '.google.protobuf.Value' },
    { name: 'list', type: Type.MESSAGE, typeName: '.google.protobuf.ListValue' },
    { name: 'any', type: Type.MESSAGE, typeName: '.google.protobuf.Any' },
    { name: 'anys', type: Type.MESSAGE, typeName: '.google.protobuf.Any', ...repeated },
    { name: 'any_by_name', type: Type.MESSAGE, typeName: `${own}.AnyByNameEntry`, ...repeated },
    { name: 'secret_any', type: Type.MESSAGE, typeName: '.google.protobuf.Any', options },
    { name: 'chosen_any', type: Type.MESSAGE, typeName: '.google.protobuf.Any', oneofIndex: 0 },
  ]
  const file = create(FileDescriptorProtoSchema, {
    name: 'redact/v1/vault.proto',
    package: 'redact.v1',
    syntax: 'proto3',
    dependency: ['google/protobuf/struct.proto', 'google/protobuf/any.proto'],
    messageType: [
      {
        name: 'Vault',
        field: fields.map((field, index) => ({ label: Label.OPTIONAL, number: index + 1, ...field })),
        oneofDecl: [{ name: 'pick' }],
        nestedType: [
          entry('ByNameEntry', { type: Type.STRING }),
          entry('ChildByNameEntry', { type: Type.MESSAGE, typeName: own }),
          entry('AnyByNameEntry', { type: Type.MESSAGE, typeName: '.google.protobuf.Any' }),
        ],
      },
    ],
  })
  const set = create(FileDescriptorSetSchema, { file: [StructSchema.file.proto, AnySchema.file.proto, file] })
  const desc = createFileRegistry(set).getMessage('redact.v1.Vault')
  return desc ?? expect.fail('the descriptor was not made')
}

function entry(name: string, value: MessageInitShape<typeof FieldDescriptorProtoSchema>) {
  return create(DescriptorProtoSchema, {
    name,
    options: { mapEntry: true },
    field: [
      { name: 'key', number: 1, type: Type.STRING, label: Label.OPTIONAL },
      { name: 'value', number: 2, label: Label.OPTIONAL, ...value },
    ],
  })
}

describe('a filter in the log', () => {
  it('is hidden, with the value that it compares, as an INPUT_ONLY field is', () => {
    const request = create(ListPersonsRequestSchema, { filter: `password = "${SECRET}"`, pageSize: 3 })
    expect(redactMessage(redaction, ListPersonsRequestSchema, request)).to.deep.equal({
      ...{ page_size: 3, filter: REDACTED },
    })
    const search = create(ListEditionsRequestSchema, { q: SECRET })
    expect(redactMessage(redaction, ListEditionsRequestSchema, search)).to.deep.equal({ q: REDACTED })
    const person = create(PersonSchema, { title: 'shown', password: SECRET })
    expect(redactMessage(redaction, PersonSchema, person)).to.deep.equal({
      title: 'shown',
      password: REDACTED,
    })
  })

  it('is hidden under the names that methods of the application give it', () => {
    const texts = ['query', 'search_text', 'author_filter', 'searchTerm', 'q2', 'frequency']
    const file = create(FileDescriptorProtoSchema, {
      ...{ name: 'find.proto', package: 'find.v1', syntax: 'proto3' },
      messageType: [
        {
          name: 'Find',
          field: [
            ...texts.map((name, at) => ({ ...STRING, name, number: at + 1 })),
            { ...STRING, name: 'filters', number: 10, label: Label.REPEATED },
            { ...STRING, name: 'query_cost', number: 11, type: Type.INT32 },
            { ...STRING, name: 'filter', number: 12, type: Type.MESSAGE, typeName: '.find.v1.Find' },
            {
              ...{ name: 'search', number: 13, label: Label.REPEATED, type: Type.MESSAGE },
              typeName: '.find.v1.Find.FindEntry',
            },
          ],
          nestedType: [entry('FindEntry', { type: Type.STRING })],
        },
      ],
    })
    const desc = createFileRegistry(file, () => undefined).getMessage('find.v1.Find') as DescMessage
    const request = create(desc, {
      ...Object.fromEntries(desc.fields.slice(0, texts.length).map(({ localName }) => [localName, SECRET])),
      ...{ filters: [SECRET], queryCost: 3, filter: { queryCost: 4 }, search: { a: SECRET } },
    } as never)
    expect(redactMessage(redaction, desc, request)).to.deep.equal({
      ...Object.fromEntries(texts.slice(0, 4).map((name) => [name, REDACTED])),
      ...{ q2: SECRET, frequency: SECRET, filters: REDACTED, query_cost: 3, filter: REDACTED },
      search: REDACTED,
    })
  })
})

const STRING = { label: Label.OPTIONAL, type: Type.STRING } as const
