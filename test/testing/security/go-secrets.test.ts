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
import { ErrNotFound } from '../../../lib/errors.js'
import { ServerBuilder } from '../../../lib/server/index.js'
import { securityCheck } from '../../../lib/testing/index.js'
import { optionsFile } from '../../support/grpc/options-file.js'

const OPTIONS = optionsFile(50003, 'infoblox.field.v1.opts')
const RULE = optionsFile(50001, 'infoblox.authz.v1.rule', 'MethodOptions')

/** Options with an extension, as generated code keeps it. */
const unknown = (no: number, value: Uint8Array) => ({
  $unknown: [{ no, wireType: WireType.LengthDelimited, data: new BinaryWriter().bytes(value).finish() }],
})
const marked = (member: number) =>
  Object.assign(
    create(FieldOptionsSchema),
    unknown(50003, new BinaryWriter().tag(member, WireType.Varint).bool(true).finish()),
  )
const ruled = (verb: string) =>
  Object.assign(
    create(MethodOptionsSchema),
    unknown(
      50001,
      new BinaryWriter()
        .tag(1, WireType.LengthDelimited)
        .string(verb)
        .tag(2, WireType.LengthDelimited)
        .string('vault')
        .finish(),
    ),
  )

/** A service whose .proto file was written for the Go framework. */
function vaultService(): DescService {
  const text = { type: Type.STRING, label: Label.OPTIONAL }
  const id = { name: 'id', number: 1, jsonName: 'id', ...text }
  const message = { type: Type.MESSAGE, label: Label.OPTIONAL, typeName: '.vault.v1.Vault' }
  const file = create(FileDescriptorProtoSchema, {
    ...{ name: 'vault.proto', package: 'vault.v1', syntax: 'proto3' },
    dependency: [OPTIONS.proto.name, RULE.proto.name],
    messageType: [
      {
        name: 'Vault',
        field: [
          id,
          { name: 'title', number: 2, jsonName: 'title', ...text },
          { name: 'pin', number: 3, jsonName: 'pin', ...text, options: marked(1) },
          { name: 'badge', number: 4, jsonName: 'badge', ...text, options: marked(10) },
        ],
      },
      { name: 'GetVaultRequest', field: [id] },
      {
        name: 'CreateVaultRequest',
        field: [
          { name: 'vault', number: 1, jsonName: 'vault', ...message },
          { name: 'vault_id', number: 2, jsonName: 'vaultId', ...text },
        ],
      },
    ],
    service: [
      {
        name: 'VaultService',
        method: ['Get', 'Create'].map((verb) => ({
          ...{ name: `${verb}Vault`, inputType: `.vault.v1.${verb}VaultRequest` },
          ...{ outputType: '.vault.v1.Vault', options: ruled(verb.toLowerCase()) },
        })),
      },
    ],
  })
  const files = new Map(
    [OPTIONS, RULE].flatMap((one) => [one, ...one.dependencies]).map((one) => [one.proto.name, one]),
  )
  return createFileRegistry(file, (path): DescFile | undefined => files.get(path)).getService(
    'vault.v1.VaultService',
  ) as DescService
}

interface Vault {
  readonly id: string
  readonly title: string
}

describe('securityCheck of a .proto file of the Go framework', () => {
  it('plants a secret in each field that the file marks as a secret or a credential', async () => {
    const vaults = new Map<string, Vault>()
    const builder = new ServerBuilder().register(vaultService(), {
      getVault: ({ id }: Vault, { tenant }: { readonly tenant: string }) => {
        const found = vaults.get(`${tenant} ${id}`)
        if (found === undefined) throw new ErrNotFound()
        return found
      },
      createVault: (
        { vault, vaultId: id }: { readonly vault: Vault; readonly vaultId: string },
        { tenant }: { readonly tenant: string },
      ) => {
        const made = { ...vault, id }
        vaults.set(`${tenant} ${id}`, made)
        return made
      },
    } as never)
    const { findings } = await securityCheck(builder)
    const shown = findings.flatMap(({ check, text }) => (check === 'secret' ? [text] : []))
    expect(shown).to.include.members(['pin is in the response', 'badge is in the response'])
    expect(shown).to.not.include('title is in the response')
  })
})
