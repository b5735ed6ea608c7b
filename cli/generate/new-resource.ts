import { type DescField, ScalarType } from '@bufbuild/protobuf'
import { Failure } from '../errors/failure.js'
import { ChangedFiles } from './changed-files.js'
import { entityFile, keyIn } from './entity-file.js'
import type { FieldSpec } from './field-spec.js'
import { FIELD_TYPES, KEY_TYPES, type KeyType } from './field-types.js'
import {
  isRequired,
  isSetByServer,
  type Project,
  PROTO_FOLDER,
  type Resource,
  resourceNamed,
} from './project.js'
import { protoFile } from './proto-file.js'
import { type ResourceNames, resourceNames } from './resource-names.js'
import { withLine } from './service-file.js'
import { testFile } from './test-file.js'
import { pascalOf, snakeOf } from './words.js'

export interface NewResource {
  readonly names: ResourceNames
  readonly fields: readonly FieldSpec[]
  /** Default: a string. */
  readonly key?: KeyType | undefined
  readonly parent?: string | undefined
  readonly package?: string | undefined
}

/** The files of a resource that the project does not have. @throws {Failure} where they do not fit. */
export function newResource(
  project: Project,
  { names, fields, key = KEY_TYPES.string, parent: parentName, package: given }: NewResource,
): ChangedFiles {
  const { registration, folder } = project
  if (fields.length === 0)
    throw new Failure(
      'input',
      `--fields is missing: a new resource needs at least one field, such as --fields 'title:string!'`,
    )
  const parent = parentName === undefined ? undefined : parentOf(project, parentName)
  for (const { name } of fields)
    if (name === `${parent?.names.snake ?? ''}_id` || name === parent?.names.snake)
      throw new Failure(
        'input',
        `--fields ${name}: the resource name already contains the parent; choose another name`,
      )
  const pkg = given ?? parent?.resource.message.file.proto.package ?? onlyPackage(project)
  const stem = `${pkg.replaceAll('.', '/')}/${names.snake}`
  const generated = `../gen/${stem}_pb.js`
  const files = new ChangedFiles(folder)
  const above = parent && `src/${parent.names.folder}/${parent.names.file}.ts`
  const parentKey = keyIn(above === undefined ? '' : (files.text(above) ?? ''))
  const context = {
    package: pkg,
    domain: parent?.resource.type.split('/')[0] ?? domainOf(project),
    key,
    parent: parent && {
      names: parent.names,
      key: parentKey,
      type: parent.resource.type,
      pattern: parent.resource.pattern,
    },
  }
  files.add(`${PROTO_FOLDER}/${stem}.proto`, protoFile(names, fields, context))
  files.add(
    `src/${names.folder}/${names.file}.ts`,
    entityFile(names, fields, { generated, key, parent: context.parent }),
  )
  files.add(`src/${names.folder}/${registration.fileOf(names)}`, registration.textOf(names, generated))
  files.add(
    `test/${names.folder}.test.ts`,
    testFile(
      names,
      fields,
      key,
      parent && { names: parent.names, key: parentKey, body: sampleOf(parent.resource) },
    ),
  )
  const entity = `export { ${names.type} } from './${names.folder}/${names.file}.js'`
  files.set('src/entities.ts', withLine(files.text('src/entities.ts') ?? '', entity))
  files.set(registration.list, withLine(files.text(registration.list) ?? '', registration.exportOf(names)))
  return files
}

function parentOf(project: Project, name: string) {
  const resource = resourceNamed(project, pascalOf(snakeOf(name)))
  const { message, pattern, plural } = resource
  const names = resourceNames(message.name, plural === '' ? undefined : pascalOf(snakeOf(plural)))
  if (pattern !== `${names.camels}/{${names.snake}}`)
    throw new Failure(
      'input',
      `--parent ${name}: its pattern is ${pattern}, but this command only writes children of ${names.camels}/{${names.snake}}; write the .proto and the entity yourself`,
    )
  if (names.camel === TENANT)
    throw new Failure(
      'input',
      `--parent ${name}: ${names.snake}_id is the tenant column, so it cannot refer to one of several ${names.type} resources in a tenant. If the ${names.snake} is the tenant, leave --parent out, because each row belongs to its tenant; otherwise choose another name for the parent, such as Customer${names.type}`,
    )
  return { names, resource }
}

/** An entity of this command has its tenant in `accountId`. */
const TENANT = 'account'

function onlyPackage({ packages }: Project): string {
  const [only, ...others] = packages
  if (only === undefined || others.length > 0)
    throw new Failure(
      'input',
      `--package is missing: name the package of the resource, such as ${only ?? 'shop.v1'}`,
    )
  return only
}

const domainOf = ({ resources, packages }: Project): string =>
  resources[0]?.type.split('/')[0] ?? `${packages[0]?.split('.')[0] ?? 'service'}.example.com`

/** A parent as JSON, with the fields that a client has to send. */
const sampleOf = ({ message }: Resource): string => {
  const required = message.fields.filter((field) => isRequired(field) && !isSetByServer(field))
  return `{ ${required.map((field) => `${field.jsonName}: ${valueOf(field)}`).join(', ')} }`.replace(
    '{  }',
    '{}',
  )
}

function valueOf(field: DescField): string {
  const text = (type: string) => FIELD_TYPES[type]?.sample(field.name) ?? "''"
  switch (field.fieldKind) {
    case 'scalar':
      return field.scalar === ScalarType.BYTES
        ? text('bytes')
        : field.scalar === ScalarType.STRING
          ? text('string')
          : '1'
    case 'enum':
      return `'${field.enum.values[1]?.name ?? ''}'`
    case 'message':
      return text(field.message.name.toLowerCase())
    case 'list':
      return field.listKind === 'scalar' && field.scalar === ScalarType.STRING ? text('string[]') : '[]'
    case 'map':
      return '{}'
  }
}
