import { create, createFileRegistry, type DescMessage } from '@bufbuild/protobuf'
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FieldOptionsSchema,
  FileDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { optionsFile } from '../../support/grpc/options-file.js'
import { file_ashlar_api_v1_annotations as annotations } from 'ashlar-annotations/ashlar/api/v1/annotations_pb.js'
import { expect } from 'chai'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Computed } from '../../../decorators/computed.js'
import { Credential } from '../../../decorators/credential.js'
import { Resource } from '../../../decorators/resource.js'
import { Secret } from '../../../decorators/secret.js'
import { DeclarationError } from '../../../lib/errors.js'
import { isMarkedSecret } from '../../../lib/resource/redaction.js'
import { type EntityClass, resourceModel } from '../../../lib/resource/resource-model.js'

const problemsOf = (entity: EntityClass<object>): readonly string[] => {
  try {
    resourceModel(entity)
  } catch (error) {
    if (error instanceof DeclarationError) return error.problems
    throw error
  }
  return []
}

describe('a field that its .proto marks as a secret', () => {
  const OPTIONS: readonly (readonly [string, Option])[] = [
    ['ashlar.api.v1.field', { number: 68432, name: 'ashlar.api.v1.field', member: 1 }],
    ['infoblox.authz.v1.field', { number: 50002, name: 'infoblox.authz.v1.field', member: 1 }],
    ['infoblox.field.v1.opts', { number: 50003, name: 'infoblox.field.v1.opts', member: 1 }],
    ['infoblox.field.v1.opts as a credential', { number: 50003, name: 'infoblox.field.v1.opts', member: 10 }],
  ]
  for (const [name, option] of OPTIONS)
    it(`needs a property that is one: ${name}`, () => {
      const message = vault(option)
      const [first, second, ...others] = problemsOf(plain(message))
      expect(first).to.match(/^pin of vault\.v1\.Vault is marked .*declare @Secret\(\) pin\?: Secret, or/)
      expect(second).to.match(/^box of vault\.v1\.Vault contains code of vault\.v1\.Box, which is marked/)
      expect(others).to.deep.equal([])
      expect(problemsOf(declared(message, Secret()))).to.deep.equal([])
      expect(problemsOf(declared(message, Credential()))).to.deep.equal([])
      expect(
        problemsOf(
          declared(
            message,
            Computed(() => 'x'),
          ),
        ),
      ).to.have.length(1)
    })

  it('is no filterable one', () => {
    const filterable = { number: 68432, name: 'ashlar.api.v1.field', member: 3 }
    expect(problemsOf(plain(vault(filterable)))).to.deep.equal([])
    expect(resourceModel(plain(vault(filterable))).columns).to.have.property('pin')
    expect(vault(filterable).fields.some(isMarkedSecret)).to.equal(false)
  })

  it('is not a field with the option of another owner', () => {
    const option = { number: 50003, name: 'acme.v1.opts', member: 1 }
    expect(problemsOf(plain(vault(option)))).to.deep.equal([])
    expect(vault(option).fields.some(isMarkedSecret)).to.equal(false)
  })
})

const plain = (message: DescMessage) => {
  @Resource({ message, shared: true })
  @Entity('vaults')
  class Vault {
    @PrimaryColumn() id!: string
    @Column() pin!: string
    @Column('simple-json') box!: object
  }
  return Vault
}

/** The box is not declared, which is said as well where the pin is one. */
const declared = (message: DescMessage, decorator: PropertyDecorator) => {
  @Resource({ message: withoutBox(message), shared: true })
  @Entity('vaults')
  class Vault {
    @PrimaryColumn() id!: string
    @decorator pin?: string
  }
  return Vault
}

const withoutBox = (message: DescMessage): DescMessage => ({
  ...message,
  fields: message.fields.filter(({ name }) => name !== 'box'),
})

/** An option of fields: its number and full name, and the number of the member that is true. */
interface Option {
  readonly number: number
  readonly name: string
  readonly member: number
}

function vault({ number, name, member }: Option): DescMessage {
  // As bytes, which is how generated code keeps an option, whatever the members of the option are called.
  const mark = new BinaryWriter().tag(member, WireType.Varint).bool(true).finish()
  const options = create(FieldOptionsSchema)
  options.$unknown = [
    { no: number, wireType: WireType.LengthDelimited, data: new BinaryWriter().bytes(mark).finish() },
  ]
  const declaring = name.startsWith('ashlar') ? annotations : optionsFile(number, name)
  const text = { type: Type.STRING, label: Label.OPTIONAL }
  const file = create(FileDescriptorProtoSchema, {
    ...{ name: 'vault.proto', package: 'vault.v1', syntax: 'proto3', dependency: [declaring.proto.name] },
    messageType: [
      {
        name: 'Vault',
        field: [
          { name: 'id', number: 1, jsonName: 'id', ...text },
          { name: 'pin', number: 2, jsonName: 'pin', ...text, options },
          {
            ...{ name: 'box', number: 3, jsonName: 'box', label: Label.OPTIONAL },
            ...{ type: Type.MESSAGE, typeName: '.vault.v1.Box' },
          },
        ],
      },
      { name: 'Box', field: [{ name: 'code', number: 1, jsonName: 'code', ...text, options }] },
    ],
  })
  const files = new Map([declaring, ...declaring.dependencies].map((one) => [one.proto.name, one]))
  return createFileRegistry(file, (path) => files.get(path)).getMessage('vault.v1.Vault') as DescMessage
}
