import {
  create,
  createFileRegistry,
  type DescMessage,
  type Message,
  type MessageInitShape,
  setExtension,
} from '@bufbuild/protobuf'
import {
  DescriptorProtoSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  type FieldDescriptorProtoSchema,
  FieldOptionsSchema,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  StructSchema,
} from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { randomBytes } from 'node:crypto'
import { FieldSchema, field as fieldOption } from '../../lib/gen/ashlar/api/v1/annotations_pb.js'
import { redactEntity, REDACTED, redactMessage, secretFieldsOf } from '../../lib/resource/redact.js'
import { resourceModel } from '../../lib/resource/resource-model.js'
import {
  BatchUpdateSpecimensRequestSchema,
  CreateSpecimenRequestSchema,
  EchoRequestSchema,
  ListSpecimensResponseSchema,
  SpecimenSchema,
} from '../support/gen/specimens_pb.js'
import { Note, Specimen } from '../support/specimen.js'

const SECRET = 'whsec-1f9a'

describe('redactMessage', () => {
  const isSecret = secretFieldsOf([resourceModel(Specimen), resourceModel(Note)])

  it('shows fields under their proto names and leaves zero values out', () => {
    const message = create(SpecimenSchema, {
      ...{ id: 's1', title: 'A', active: true, count: 2, big: 9007199254740993n, phase: 2, ratio: 0.5 },
      ...{ blob: new Uint8Array(5), labels: ['x', 'y'], tags: { a: '1' }, span: { seconds: 3n, nanos: 1 } },
      ...{ origin: { quarry: 'Q', depth: -1n }, dueTime: { seconds: 1n, nanos: 500_000_000 } },
    })
    expect(redactMessage(SpecimenSchema, message)).to.deep.equal({
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
      expect(redactMessage(desc, message, isSecret)).to.deep.equal(shown)
    })
  }

  it('replaces marked fields in every shape a field can have', () => {
    const shown = redactMessage(Vault, vaultMessage(2))
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
    expect(redactMessage(EchoRequestSchema, message)).to.deep.equal({ words: ['w'], right: 7 })
  })

  it('cuts long texts, long lists, large maps, deep nesting and large messages', () => {
    const long = create(EchoRequestSchema, {
      text: 'x'.repeat(10_000),
      words: Array.from({ length: 50 }, (_, index) => String(index)),
      labels: Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`k${index}`, 'v'])),
      nested: nest(40),
    })
    const shown = redactMessage(EchoRequestSchema, long) as Record<
      string,
      unknown[] | Record<string, unknown>
    >
    expect(shown.text).to.equal(`${'x'.repeat(256)}… (10000 characters)`)
    expect(shown.words).to.have.lengthOf(21).and.to.include('… 30 more')
    expect(Object.keys(shown.labels ?? {})).to.have.lengthOf(21)
    expect(JSON.stringify(shown.nested)).to.contain('[deep]')
    const specimens = Array.from({ length: 20 }, () => ({
      labels: Array.from({ length: 20 }, () => 'x'.repeat(1000)),
      origin: { crew: Array.from({ length: 20 }, () => 'x'.repeat(1000)) },
      tags: Object.fromEntries(Array.from({ length: 20 }, (_, index) => [String(index), 'v'])),
    }))
    const large = redactMessage(
      ListSpecimensResponseSchema,
      create(ListSpecimensResponseSchema, { specimens }),
    )
    expect(JSON.stringify(large)).to.contain('[cut]').and.to.have.length.lessThan(350_000)
  })

  it('does not open what nobody described', () => {
    const struct = { holder: { apiKey: SECRET } }
    expect(
      redactMessage(Vault, create(Vault, { free: struct } as MessageInitShape<typeof Vault>)),
    ).to.deep.equal({
      free: '[struct]',
    })
    expect(JSON.stringify(redactMessage(StructSchema, create(StructSchema)))).to.equal('{}')
  })

  it('is JSON, whatever a caller named a map key', () => {
    const labels = JSON.parse('{"__proto__":"a","constructor":"b","toString":"c"}') as Record<string, string>
    const message = create(EchoRequestSchema, { number: 1n, data: randomBytes(3) })
    Object.assign(message, { labels })
    const shown = redactMessage(EchoRequestSchema, message)
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
    const shown = redactMessage(EchoRequestSchema, { $typeName: 'x', ...odd } as unknown as Message)
    expect(shown).to.deep.equal({ text: '[object]', words: 'none', nested: 3, phase: 99, at: 'invalid date' })
  })
})

describe('redactEntity', () => {
  it('replaces secrets and credentials and leaves out what is in no message', () => {
    const entity = Object.assign(new Specimen(), {
      ...{ id: 's1', title: 'A', webhookSecret: SECRET, apiKey: SECRET, bin: 'internal', accountId: 't1' },
      ...{
        phase: 2,
        big: 5n,
        blob: new Uint8Array(3),
        dueTime: new Date(0),
        tags: { k: 'v' },
        labels: ['x'],
      },
      ...{ origin: { quarry: 'Q', depth: 4n, crew: ['c'], stowaway: SECRET }, span: 10n, etag: 'e1' },
      ...{ webhookSecret_hash: SECRET, apiKey_salt: SECRET, unknown: SECRET },
    })
    const shown = redactEntity(resourceModel(Specimen), entity)
    expect(JSON.stringify(shown)).not.to.contain(SECRET).and.not.to.contain('internal')
    expect(shown).to.deep.equal({
      ...{
        id: 's1',
        title: 'A',
        webhook_secret: REDACTED,
        api_key: REDACTED,
        account_id: 't1',
        phase: 'CUT',
      },
      ...{
        big: '5',
        blob: '(3 bytes)',
        due_time: '1970-01-01T00:00:00.000Z',
        tags: { k: 'v' },
        labels: ['x'],
      },
      ...{ origin: { quarry: 'Q', depth: '4', crew: ['c'] }, span: '10', etag: 'e1' },
    })
  })

  it('leaves absent secrets out', () => {
    const entity = Object.assign(new Specimen(), { id: 's1', webhookSecret: '', apiKey: undefined })
    expect(redactEntity(resourceModel(Specimen), entity)).to.deep.equal({ id: 's1' })
  })
})

function nest(depth: number): MessageInitShape<typeof EchoRequestSchema>['nested'] {
  return depth === 0 ? { leaf: 'end' } : ({ leaf: 'x', inner: nest(depth - 1) } as never)
}

/** A message with a marked field of every shape, made here because no service of ours has one. */
const Vault = makeVault()

function vaultMessage(depth: number): Message {
  const child = { $typeName: 'redact.v1.Vault', plain: 'shown', text: SECRET }
  return create(Vault, {
    ...{
      plain: 'shown',
      text: SECRET,
      texts: [SECRET],
      byName: { [SECRET]: SECRET },
      data: Buffer.from(SECRET),
    },
    ...{ number: 1234567n, standard: SECRET, whole: child, pick: { case: 'chosen', value: SECRET } },
    ...(depth === 0 ? {} : { child, children: [child, { $typeName: child.$typeName, text: SECRET }] }),
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
  ]
  const entry = (name: string, value: FieldInit) =>
    create(DescriptorProtoSchema, {
      name,
      options: { mapEntry: true },
      field: [
        { name: 'key', number: 1, type: Type.STRING, label: Label.OPTIONAL },
        { name: 'value', number: 2, label: Label.OPTIONAL, ...value },
      ],
    })
  const file = create(FileDescriptorProtoSchema, {
    name: 'redact/v1/vault.proto',
    package: 'redact.v1',
    syntax: 'proto3',
    dependency: ['google/protobuf/struct.proto'],
    messageType: [
      {
        name: 'Vault',
        field: fields.map((field, index) => ({ label: Label.OPTIONAL, number: index + 1, ...field })),
        oneofDecl: [{ name: 'pick' }],
        nestedType: [
          entry('ByNameEntry', { type: Type.STRING }),
          entry('ChildByNameEntry', { type: Type.MESSAGE, typeName: own }),
        ],
      },
    ],
  })
  const set = create(FileDescriptorSetSchema, { file: [StructSchema.file.proto, file] })
  const desc = createFileRegistry(set).getMessage('redact.v1.Vault')
  return desc ?? expect.fail('the descriptor was not made')
}
