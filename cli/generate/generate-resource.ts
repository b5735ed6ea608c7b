import type { FileDescriptorSet } from '@bufbuild/protobuf/wkt'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../errors/failure.js'
import { describedProtos, generateCode } from '../proto/buf.js'
import { projectOption } from '../loading/project-option.js'
import { runTool, toolOf } from '../proto/project-tool.js'
import { changedResource } from './changed-resource.js'
import type { ChangedFiles } from './changed-files.js'
import { parseFields, parseKey } from './field-spec.js'
import { newResource } from './new-resource.js'
import { type Project, projectIn } from './project.js'
import { resourceNames } from './resource-names.js'
import { pascalOf, snakeOf } from './words.js'

/** What a person asks for. */
export interface ResourceRequest {
  readonly folder: string
  readonly name: string
  readonly plural?: string | undefined
  readonly parent?: string | undefined
  readonly package?: string | undefined
  readonly fields: string
  readonly remove: readonly string[]
}

/** What was done. */
export interface GeneratedResource {
  readonly name: string
  readonly isNew: boolean
  readonly written: ChangedFiles['paths']
  readonly addedFields: readonly string[]
  readonly removedFields: readonly string[]
  /** What is left for a person. */
  readonly notes: readonly string[]
}

interface Prepared {
  readonly project: Project
  readonly files: ChangedFiles
  readonly done: GeneratedResource
}

/**
 * Writes the files of resources, or adds and removes fields of those that are there, one after another, and
 * generates their code. Where one of them cannot be written, or buf does not accept the .proto files
 * afterwards, all files are put back.
 * @throws {Failure}
 */
export async function generateResources(
  requests: readonly ResourceRequest[],
): Promise<readonly GeneratedResource[]> {
  const written: ChangedFiles[] = []
  try {
    const done: GeneratedResource[] = []
    for (const request of requests) {
      const prepared = prepare(await projectIn(request.folder), request)
      if (prepared.files.paths.length > 0) {
        prepared.files.write()
        written.push(prepared.files)
        await checkWritten(prepared)
      }
      done.push({ ...prepared.done, written: prepared.files.paths })
    }
    const [first] = requests
    if (first !== undefined && written.length > 0) await generateCode(first.folder)
    return done
  } catch (error) {
    if (written.length === 0) throw error
    for (const files of written.reverse()) files.restore()
    throw new Failure('input', `nothing is changed: ${(error as Error).message}`, { cause: error })
  }
}

function prepare(project: Project, request: ResourceRequest): Prepared {
  const fields = parseFields(request.fields)
  const key = parseKey(request.fields)
  const there = project.resources.find(({ message }) => message.name === request.name)
  if (there === undefined) {
    if (request.remove.length > 0)
      throw new Failure('input', `--remove: there is no resource ${request.name} to remove fields of`)
    const names = resourceNames(request.name, request.plural)
    const taken = project.resources.find(
      ({ message }) => message.name.toLowerCase() === request.name.toLowerCase(),
    )
    if (taken !== undefined)
      throw new Failure('input', `there is a resource ${taken.message.name}: write its name like that`)
    const files = newResource(project, { ...request, names, fields, key })
    const addedFields = fields.map(({ name }) => name)
    return {
      project,
      files,
      done: { name: request.name, isNew: true, written: [], addedFields, removedFields: [], notes: [] },
    }
  }
  for (const [flag, value] of Object.entries({ plural: request.plural, package: request.package }))
    if (value !== undefined)
      throw new Failure('input', `--${flag} ${value}: ${request.name} is there already, and its names stay`)
  if (key !== undefined)
    throw new Failure('input', `--fields id: ${request.name} is there already, and its key stays`)
  checkParent(there.pattern, request)
  const plural = there.plural === '' ? undefined : pascalOf(snakeOf(there.plural))
  const names = resourceNames(request.name, plural)
  const { files, changes, notes } = changedResource(project, there, names, fields, request.remove)
  const addedFields = changes.added.map(({ name }) => name)
  return {
    project,
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

/** A resource does not move: its names would be others. */
function checkParent(pattern: string, { name, parent }: ResourceRequest): void {
  if (parent === undefined) return
  const above = /\{([^}]+)\}\/[^/]+\/\{[^}]+\}$/.exec(pattern)?.[1]
  if (above !== snakeOf(parent).toLowerCase())
    throw new Failure(
      'input',
      `--parent ${parent}: ${name} has the pattern ${pattern}, which clients rely on; leave --parent out`,
    )
}

/** What was there before the files were written is there unchanged, but for what was asked to go. */
async function checkWritten({ project, done }: Prepared): Promise<void> {
  const message = project.resources.find((one) => one.message.name === done.name)?.message
  const removed = done.removedFields.map((name) => `${message?.typeName ?? ''}.${name}`)
  checkNumbers(project.set, await describedProtos(project.folder), new Set(removed))
}

/** Every field that was there has its name, number and type. */
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
        `the field ${name} would have changed: edit the .proto by hand, and please report this with the file`,
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

/** The module of the entities, compiled. @throws {Failure} with the first mistakes of the compiler. */
export async function compiledEntities(folder: string): Promise<string> {
  const { exit, stdout } = await runTool(toolOf(folder, 'tsc', 'typescript'), [], folder)
  if (exit !== 0) {
    const lines = stdout.toString().trim().split('\n').slice(0, 3).join('; ')
    throw new Failure(
      'input',
      `the files are written, and the project does not compile, so that no migration is: ${lines}`,
    )
  }
  return projectOption('entities') ?? join(folder, 'dist/src/entities.js')
}

/** Whether the project has migrations. Without them SQLite makes its tables by itself. */
export const hasMigrations = (): boolean => existsSync(migrationsFolder())

export const migrationsFolder = (): string => projectOption('files') ?? 'migrations'
