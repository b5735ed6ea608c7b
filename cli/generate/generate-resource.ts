import type { DescMessage } from '@bufbuild/protobuf'
import type { FileDescriptorSet } from '@bufbuild/protobuf/wkt'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../errors/failure.js'
import { generateCode } from '../proto/buf.js'
import { projectOption } from '../loading/project-option.js'
import { runTool, toolOf } from '../proto/project-tool.js'
import { changedResource } from './changed-resource.js'
import type { ChangedFiles } from './changed-files.js'
import { parseFields, parseKey } from './field-spec.js'
import { newResource } from './new-resource.js'
import { type Project, projectIn } from './project.js'
import { resourceNames } from './resource-names.js'
import { pascalOf, snakeOf } from './words.js'

/** The user's request. */
export interface ResourceRequest {
  readonly name: string
  readonly plural?: string | undefined
  readonly parent?: string | undefined
  readonly package?: string | undefined
  readonly fields: string
  readonly remove: readonly string[]
}

/** The result of generating a resource. */
export interface GeneratedResource {
  readonly name: string
  readonly isNew: boolean
  readonly written: ChangedFiles['paths']
  readonly addedFields: readonly string[]
  readonly removedFields: readonly string[]
  /** The remaining manual steps. */
  readonly notes: readonly string[]
}

interface Prepared {
  readonly files: ChangedFiles
  readonly done: GeneratedResource
}

/**
 * Writes the files of resources, or adds and removes fields of existing ones, and generates their code. If a
 * file cannot be written, or if buf rejects the .proto files, all files are restored.
 * @throws {Failure}
 */
export async function generateResources(
  folder: string,
  requests: readonly ResourceRequest[],
): Promise<readonly GeneratedResource[]> {
  const written: ChangedFiles[] = []
  try {
    const done = await writeAll(folder, requests, written)
    if (written.length > 0) await generateCode(folder)
    return done
  } catch (error) {
    if (written.length === 0) throw error
    for (const files of written.reverse()) files.restore()
    throw new Failure('input', `nothing is changed: ${(error as Error).message}`, { cause: error })
  }
}

/**
 * Writes resources in groups. Requests that do not depend on each other, such as all parents, share one
 * reading of the project.
 * @param written - receives the files.
 */
async function writeAll(
  folder: string,
  requests: readonly ResourceRequest[],
  written: ChangedFiles[],
): Promise<readonly GeneratedResource[]> {
  const done = new Map<ResourceRequest, GeneratedResource>()
  let project = await projectIn(folder)
  while (done.size < requests.length) {
    const left = requests.filter((one) => !done.has(one))
    const ready = left.filter((one, at) => !left.slice(0, at).some((other) => needs(project, one, other)))
    const before = written.length
    const removed = new Set<string>()
    for (const request of ready) {
      const { files, done: one } = prepare(project, request)
      if (files.paths.length > 0) {
        files.write()
        written.push(files)
      }
      const type = messageOf(project, request)?.typeName ?? ''
      for (const field of one.removedFields) removed.add(`${type}.${field}`)
      done.set(request, { ...one, written: files.paths })
    }
    if (written.length === before) continue
    const after = await projectIn(folder)
    checkNumbers(project.set, after.set, removed)
    project = after
  }
  return requests.flatMap((request) => done.get(request) ?? [])
}

/**
 * Returns true if a request depends on another one: it needs its resource or parent, or uses the same .proto
 * file.
 */
function needs(project: Project, request: ResourceRequest, other: ResourceRequest): boolean {
  const { name, parent = name } = request
  const file = messageOf(project, request)?.file.name
  return (
    [name, pascalOf(snakeOf(parent))].some((one) => one.toLowerCase() === other.name.toLowerCase()) ||
    (file !== undefined && file === messageOf(project, other)?.file.name)
  )
}

const messageOf = ({ resources }: Project, { name }: ResourceRequest): DescMessage | undefined =>
  resources.find(({ message }) => message.name === name)?.message

function prepare(project: Project, request: ResourceRequest): Prepared {
  const fields = parseFields(request.fields)
  const key = parseKey(request.fields)
  const there = project.resources.find(({ message }) => message.name === request.name)
  if (there === undefined) {
    if (request.remove.length > 0)
      throw new Failure('input', `--remove: there is no resource ${request.name}`)
    const names = resourceNames(request.name, request.plural)
    const taken = project.resources.find(
      ({ message }) => message.name.toLowerCase() === request.name.toLowerCase(),
    )
    if (taken !== undefined)
      throw new Failure(
        'input',
        `there is already a resource ${taken.message.name}: write its name the same way`,
      )
    const files = newResource(project, { ...request, names, fields, key })
    const addedFields = fields.map(({ name }) => name)
    return {
      files,
      done: { name: request.name, isNew: true, written: [], addedFields, removedFields: [], notes: [] },
    }
  }
  for (const [flag, value] of Object.entries({ plural: request.plural, package: request.package }))
    if (value !== undefined)
      throw new Failure(
        'input',
        `--${flag} ${value}: ${request.name} already exists, and its names cannot change`,
      )
  if (key !== undefined)
    throw new Failure('input', `--fields id: ${request.name} already exists, and its key cannot change`)
  checkParent(there.pattern, request)
  const plural = there.plural === '' ? undefined : pascalOf(snakeOf(there.plural))
  const names = resourceNames(request.name, plural)
  const { files, changes, notes } = changedResource(project, there, names, fields, request.remove)
  const addedFields = changes.added.map(({ name }) => name)
  return {
    files,
    done: {
      name: request.name,
      isNew: false,
      written: [],
      addedFields,
      removedFields: changes.removed,
      notes,
    },
  }
}

/** Checks the parent of an existing resource, which cannot change because its names would change. */
function checkParent(pattern: string, { name, parent }: ResourceRequest): void {
  if (parent === undefined) return
  const above = /\{([^}]+)\}\/[^/]+\/\{[^}]+\}$/.exec(pattern)?.[1]
  if (above !== snakeOf(parent).toLowerCase())
    throw new Failure(
      'input',
      `--parent ${parent}: ${name} has the pattern ${pattern}, which clients rely on; leave --parent out`,
    )
}

/** Checks that every previous field keeps its name, number and type, except those to be removed. */
function checkNumbers(
  before: FileDescriptorSet,
  after: FileDescriptorSet,
  removed: ReadonlySet<string>,
): void {
  const now = fieldsOf(after)
  for (const [name, facts] of fieldsOf(before))
    if (now.get(name) !== facts && !removed.has(name))
      throw new Failure(
        'bug',
        `the field ${name} would have changed: edit the .proto manually, and please report this with the file`,
      )
}

const fieldsOf = ({ file }: FileDescriptorSet): ReadonlyMap<string, string> =>
  new Map(
    file.flatMap((one) =>
      one.messageType.flatMap((message) =>
        message.field.map((field): [string, string] => [
          `${one.package}.${message.name}.${field.name}`,
          `${field.number} ${field.type} ${field.typeName} ${field.label}`,
        ]),
      ),
    ),
  )

/**
 * Compiles the project and returns the entity module.
 * @throws {Failure} with the first errors of the compiler.
 */
export async function compiledEntities(folder: string): Promise<string> {
  const { exit, stdout } = await runTool(toolOf(folder, 'tsc', 'typescript'), [], folder)
  if (exit !== 0) {
    const lines = stdout.toString().trim().split('\n').slice(0, 3).join('; ')
    throw new Failure(
      'input',
      `the files are written, but the project does not compile, so no migration is written: ${lines}`,
    )
  }
  return projectOption('entities') ?? join(folder, 'dist/src/entities.js')
}

/** Returns true if the project has migrations. Without them, SQLite creates its tables automatically. */
export const hasMigrations = (): boolean => existsSync(migrationsFolder())

export const migrationsFolder = (): string => projectOption('files') ?? 'migrations'
