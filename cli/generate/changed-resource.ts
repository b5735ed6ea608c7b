import type { DescField, DescMessage } from '@bufbuild/protobuf'
import { Failure } from '../errors/failure.js'
import { type FieldChanges, withFields } from './field-edits.js'
import { ChangedFiles } from './changed-files.js'
import { withoutProperty, withProperties } from './entity-file.js'
import type { FieldSpec } from './field-spec.js'
import { isRequired, type Project, PROTO_FOLDER, protoText, type Resource } from './project.js'
import type { ResourceNames } from './resource-names.js'
import { withoutSample, withSamples } from './test-file.js'
import { camelOf } from './words.js'

/** The changed files, and notes on the remaining manual steps. */
export interface ChangedResource {
  readonly files: ChangedFiles
  readonly changes: FieldChanges
  readonly notes: readonly string[]
}

/**
 * Returns the files of an existing resource with added and removed fields.
 * @throws {Failure} if that would break clients.
 */
export function changedResource(
  project: Project,
  { message }: Resource,
  names: ResourceNames,
  fields: readonly FieldSpec[],
  removed: readonly string[],
): ChangedResource {
  const changes = changesOf(message, fields, removed)
  const files = new ChangedFiles(project.folder)
  const proto = message.file.proto
  files.set(
    `${PROTO_FOLDER}/${proto.name}`,
    withFields({ text: protoText(project, proto.name), file: proto }, message.name, changes),
  )
  const notes: string[] = []
  const entity = `src/${names.folder}/${names.file}.ts`
  let text = files.text(entity)
  const generated = `../gen/${proto.name.replace(/\.proto$/, '')}_pb.js`
  text = text && withProperties(text, message.name, changes.added, generated)
  if (text === undefined)
    throw new Failure(
      'input',
      `the class ${message.name} is not found in ${entity}: change the .proto and the entity manually`,
    )
  // The property may have been removed manually already.
  for (const name of removed) text = withoutProperty(text, message.name, name) ?? text
  files.set(entity, text)

  const test = `test/${names.folder}.test.ts`
  const before = files.text(test)
  if (before !== undefined) {
    const kept = removed.reduce(withoutSample, before)
    for (const name of removed)
      if (new RegExp(`\\b(${name}|${camelOf(name)})\\b`).test(kept))
        notes.push(`${test} still names ${name}: change it there`)
    const sampled = changes.added.length === 0 ? kept : withSamples(kept, changes.added)
    if (sampled === undefined)
      notes.push(`${test} has no sample in the expected form: add the new fields there yourself`)
    files.set(test, sampled ?? kept)
  }
  return { files, changes, notes }
}

function changesOf(
  message: DescMessage,
  fields: readonly FieldSpec[],
  removed: readonly string[],
): FieldChanges {
  const added: FieldSpec[] = []
  const values: { enumeration: string; added: readonly string[] }[] = []
  for (const spec of fields) {
    const there = message.fields.find(({ name }) => name === spec.name)
    if (there === undefined) {
      checkNew(message, spec)
      added.push(spec)
      continue
    }
    const now = writtenType(there)
    if (now !== typeText(spec))
      throw new Failure(
        'input',
        `--fields ${spec.name}: it is ${now} in the .proto, and clients rely on that; add a field with another name instead`,
      )
    if (there.enum === undefined) continue
    const known = new Set(there.enum.values.map(({ name }) => name))
    const more = spec.values.filter((value) => !known.has(value))
    checkValues(message, spec, more)
    if (more.length > 0) values.push({ enumeration: there.enum.name, added: more })
  }
  for (const name of removed) {
    const there = message.fields.find((field) => field.name === name)
    if (there === undefined) throw new Failure('input', `--remove ${name}: ${message.name} has no such field`)
    if (KEPT.has(name)) throw new Failure('input', `--remove ${name}: every resource has it`)
    if (fields.some((field) => field.name === name))
      throw new Failure('input', `${name} is in --fields and in --remove: name it in one of them`)
  }
  return { added, removed, values }
}

const KEPT = new Set(['name', 'create_time', 'update_time', 'etag'])

function checkNew(message: DescMessage, spec: FieldSpec): void {
  if (message.proto.reservedName.includes(spec.name))
    throw new Failure(
      'input',
      `--fields ${spec.name}: a field with this name was removed, and its name is reserved; choose another name`,
    )
  if (spec.values.length === 0) return
  if (
    message.nestedEnums.some(({ name }) => name === spec.type.proto) ||
    message.nestedMessages.some(({ name }) => name === spec.type.proto)
  )
    throw new Failure(
      'input',
      `--fields ${spec.name}: ${message.name} already has a type ${spec.type.proto}; choose another name`,
    )
  checkValues(message, spec, spec.values)
}

/**
 * Throws if another enum of the message already has one of the values. Protobuf puts the values of all enums
 * of a message in one namespace.
 */
function checkValues(message: DescMessage, spec: FieldSpec, values: readonly string[]): void {
  for (const { name, values: taken } of message.nestedEnums) {
    const both = values.find((value) => taken.some((one) => one.name === value))
    if (both !== undefined && name !== spec.type.proto)
      throw new Failure(
        'input',
        `--fields ${spec.name}: the enum ${name} already has the value ${both}; choose another, such as ${spec.name.toUpperCase()}_${both}`,
      )
  }
}

const typeText = ({ type, presence }: FieldSpec): string =>
  `${presence === 'optional' ? 'optional ' : ''}${type.proto}${presence === 'required' ? ' (required)' : ''}`

/** Returns the type of an existing field in the notation of `typeText`. */
function writtenType(field: DescField): string {
  const { proto } = field
  const label = field.fieldKind === 'list' ? 'repeated ' : proto.proto3Optional ? 'optional ' : ''
  const type =
    field.enum?.name ??
    field.message?.typeName ??
    (field.fieldKind === 'map' ? 'map' : (SCALARS[proto.type] ?? `type ${proto.type}`))
  return `${label}${type}${isRequired(field) ? ' (required)' : ''}`
}

/** The scalar types by `FieldDescriptorProto.Type`. */
const SCALARS: Readonly<Record<number, string>> = {
  1: 'double',
  2: 'float',
  3: 'int64',
  4: 'uint64',
  5: 'int32',
  6: 'fixed64',
  7: 'fixed32',
  8: 'bool',
  9: 'string',
  12: 'bytes',
  13: 'uint32',
  15: 'sfixed32',
  16: 'sfixed64',
  17: 'sint32',
  18: 'sint64',
}
