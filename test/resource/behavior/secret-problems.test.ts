import { create, createFileRegistry, type DescMessage } from '@bufbuild/protobuf'
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FieldOptionsSchema,
  FileDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
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
  for (const [number, from] of [
    [1, 'code that is generated now'],
    [2, 'code that was generated before'],
  ] as const)
    it(`needs a property that is one, in ${from}`, () => {
      const message = vault(number)
      const [first, second, ...others] = problemsOf(plain(message))
      expect(first).to.match(/^pin of vault\.v1\.Vault is marked .*declare @Secret\(\) pin\?: Secret, or/)
      expect(second).to.match(/^box of vault\.v1\.Vault has code of vault\.v1\.Box inside, which is marked/)
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

  it('may be an old filterable, and the refusal says what to do', () => {
    expect(problemsOf(plain(vault(1)))[0]).to.match(/if its \.proto says filterable, generate the code/)
  })

  it('is no filterable one', () => {
    expect(problemsOf(plain(vault(3)))).to.deep.equal([])
    expect(resourceModel(plain(vault(3))).columns).to.have.property('pin')
    expect(vault(3).fields.some(isMarkedSecret)).to.equal(false)
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

/** @param number - of the field of `ashlar.api.v1.Field` that is true. */
function vault(number: number): DescMessage {
  // As bytes, which is how generated code keeps an option, whatever the option's fields are called by now.
  const mark = new BinaryWriter().tag(number, WireType.Varint).bool(true).finish()
  const options = create(FieldOptionsSchema)
  options.$unknown = [
    { no: 50002, wireType: WireType.LengthDelimited, data: new BinaryWriter().bytes(mark).finish() },
  ]
  const text = { type: Type.STRING, label: Label.OPTIONAL }
  const file = create(FileDescriptorProtoSchema, {
    ...{ name: 'vault.proto', package: 'vault.v1', syntax: 'proto3', dependency: [annotations.proto.name] },
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
  const files = new Map([annotations, ...annotations.dependencies].map((one) => [one.proto.name, one]))
  return createFileRegistry(file, (name) => files.get(name)).getMessage('vault.v1.Vault') as DescMessage
}
