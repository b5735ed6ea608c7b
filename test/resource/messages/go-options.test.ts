import { create, createFileRegistry, type DescFile, type DescService } from '@bufbuild/protobuf'
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FieldOptionsSchema,
  FileDescriptorProtoSchema,
  MethodOptionsSchema,
} from '@bufbuild/protobuf/wkt'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { expect } from 'chai'
import { file_ashlar_api_v1_annotations as annotations } from 'ashlar-annotations/ashlar/api/v1/annotations_pb.js'
import { ruleOf } from '../../../lib/server/authz/rules.js'
import { Registry } from '../../../lib/server/methods/registry.js'
import { optionsFile } from '../../support/grpc/options-file.js'

/** Options with an extension, as generated code keeps it. */
const unknown = (no: number, value: Uint8Array) => [
  { no, wireType: WireType.LengthDelimited, data: new BinaryWriter().bytes(value).finish() },
]
const RULE = new BinaryWriter()
  .tag(1, WireType.LengthDelimited)
  .string('get')
  .tag(2, WireType.LengthDelimited)
  .string('vault')
  .finish()
const SECRET = new BinaryWriter().tag(1, WireType.Varint).bool(true).finish()

/** A service with an option of its method, and one of a field of its request. */
function serviceOf(imports: readonly DescFile[], methodOption?: number, fieldOption?: number): DescService {
  const options = create(MethodOptionsSchema)
  if (methodOption !== undefined) options.$unknown = unknown(methodOption, RULE)
  const ofField = create(FieldOptionsSchema)
  if (fieldOption !== undefined) ofField.$unknown = unknown(fieldOption, SECRET)
  const pin = { name: 'pin', number: 1, jsonName: 'pin', type: Type.STRING, label: Label.OPTIONAL }
  const file = create(FileDescriptorProtoSchema, {
    ...{ name: 'vault.proto', package: 'vault.v1', syntax: 'proto3' },
    dependency: imports.map(({ proto }) => proto.name),
    messageType: [{ name: 'Vault', field: [{ ...pin, options: ofField }] }],
    service: [
      {
        name: 'VaultService',
        method: [{ name: 'Open', inputType: '.vault.v1.Vault', outputType: '.vault.v1.Vault', options }],
      },
    ],
  })
  const files = new Map(imports.flatMap(withDependencies).map((one) => [one.proto.name, one]))
  return createFileRegistry(file, (path) => files.get(path)).getService(
    'vault.v1.VaultService',
  ) as DescService
}

const withDependencies = (file: DescFile): readonly DescFile[] => [
  file,
  ...file.dependencies.flatMap(withDependencies),
]

const problemsOf = (service: DescService): readonly string[] => {
  const registry = new Registry({ maxTotalSize: 1, maxPageBytes: 1, maxResponseBytes: 1 })
  registry.add(service, { implementation: { open: () => ({}) } })
  return registry.problems().map(({ text }) => text)
}

describe('options of the Go framework', () => {
  const goRuleFile = optionsFile(50001, 'infoblox.authz.v1.rule', 'MethodOptions')

  it('have rules, whatever file declares them', () => {
    const { methods } = serviceOf([goRuleFile], 50001)
    expect(ruleOf(methods[0]!)).to.deep.equal({
      ...{ method: '/vault.v1.VaultService/Open', verb: 'get', resource: 'vault', public: false },
    })
  })

  for (const [name, imports] of [
    ['of another owner', [optionsFile(50001, 'acme.v1.rule', 'MethodOptions')]],
    ['of another type', [optionsFile(50001, 'infoblox.authz.v1.rule', 'FieldOptions')]],
  ] as const)
    it(`are not an extension ${name}`, () => {
      expect(ruleOf(serviceOf(imports, 50001).methods[0]!)).to.equal(undefined)
    })

  it('start with a number that another owner declares', () => {
    const acme = optionsFile(50001, 'acme.v1.rule', 'MethodOptions')
    expect(problemsOf(serviceOf([acme], 50001))).to.deep.equal([])
  })

  it('are those of imports that the file may use, and not of what its imports import', () => {
    const acme = optionsFile(50003, 'acme.v1.opts')
    const between = create(FileDescriptorProtoSchema, {
      ...{ name: 'between.proto', package: 'between.v1', syntax: 'proto3', dependency: [acme.proto.name] },
    })
    const files = new Map([acme, ...acme.dependencies].map((one) => [one.proto.name, one]))
    const importing = (publicDependency: readonly number[]) =>
      createFileRegistry({ ...between, publicDependency: [...publicDependency] }, (path) =>
        files.get(path),
      ).getFile('between.proto') as DescFile
    expect(problemsOf(serviceOf([importing([])], undefined, 50003))).to.have.length(1)
    expect(problemsOf(serviceOf([importing([0])], undefined, 50003))).to.deep.equal([])
  })

  for (const number of [50001, 50002, 50003]) {
    it(`stop startup if no import declares the option ${number} of a field`, () => {
      const [first, ...others] = problemsOf(serviceOf([annotations], undefined, number))
      expect(first).to.match(
        new RegExp(`^pin of vault\\.v1\\.Vault has the option ${number}.*generated for an`),
      )
      expect(others).to.deep.equal([])
    })
  }

  it('stop startup if no import declares the option of a method', () => {
    const [first] = problemsOf(serviceOf([annotations], 50001))
    expect(first).to.match(/^Open of vault\.v1\.VaultService has the option 50001.*generated for an earlier/)
  })
})
