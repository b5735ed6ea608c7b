import { dirname, join, relative, resolve } from 'node:path'
import { Failure } from '../errors/failure.js'
import { ChangedFiles } from '../generate/changed-files.js'
import { generateCode } from '../proto/buf.js'
import { namedLikeTenants } from '../../lib/resource/typeorm/tenant-names.js'
import { camelOf } from '../generate/words.js'
import { nearestNames } from '../../lib/text/nearest-names.js'
import { buildProject, compiledEntities, type LoadedEntities, type LoadedEntity } from './compiled-classes.js'
import { type EntityNames, entityProto, fieldNumbers, namesOf, symbolsOf } from './entity-proto.js'
import { type AddedDecorators, decoratedSource, protoField } from './decorated-source.js'
import { bufGenYaml, bufYaml, type FileState, importExtension, writeMarked } from './marked-files.js'
import { manifestOf } from './project-manifest.js'
import { registrationText, type RegisteredEntity } from './registration.js'
import {
  type LeftOut,
  hasPaddedKey,
  resourceName,
  shownEntity,
  type ShownEntity,
  type ShownField,
} from './shown-fields.js'
import { withReferences } from './shown-references.js'

/** The user's choices about classes. */
export interface ResourceChoices {
  readonly folder: string
  readonly tenant: string | undefined
  readonly withoutTenants: boolean
  /** The classes to write; empty for all. */
  readonly only: readonly string[]
  readonly readOnly: readonly string[]
  readonly shared: readonly string[]
  readonly show: readonly string[]
  readonly packageName: string | undefined
}

/** The parsed flags of `generate from-entities`. */
export interface FromEntitiesFlags extends ResourceChoices {
  readonly builds: boolean
  /** True to add the decorators to the sources. */
  readonly write: boolean
}

/** The source of the classes: the compiled modules of a project, or a database. */
export interface ClassOrigin extends LoadedEntities {
  readonly usesPostgres: boolean
  /** Returns the advice for a class without a tenant's property. */
  readonly noTenant: (tenant: string) => string
  /** Adds the decorators to the classes' sources. Returns the sources by path. */
  readonly decorate: (files: WrittenFiles, additions: Additions) => DecoratedSources
}

export type Additions = ReadonlyMap<string, readonly AddedDecorators[]>

export interface DecoratedSources {
  /** The sources that have the decorators now. */
  readonly sources: ReadonlySet<string>
  readonly notes: readonly string[]
}

/** The files of a run. */
export interface WrittenFiles {
  readonly files: ChangedFiles
  /** Writes a file, or its new version next to an edited one. */
  readonly write: (path: string, text: string, comment?: string) => void
}

/** A class and the files that were written for it. */
export interface EntityReport {
  readonly entity: string
  /** Undefined if the class gets no resource. */
  readonly resource: string | undefined
  readonly fields: readonly string[]
  readonly leftOut: readonly LeftOut[]
  /** Reasons why it gets no resource or no Create. */
  readonly notes: readonly string[]
  readonly source: string
  /** The lines to add above the class. */
  readonly decorators: readonly string[]
}

export interface FromEntities {
  readonly entities: readonly EntityReport[]
  readonly written: readonly { readonly path: string; readonly state: FileState }[]
  readonly notes: readonly string[]
}

/**
 * Writes the .proto files and the registration of a project's entity classes.
 * @throws {Failure}
 */
export async function fromEntities(flags: FromEntitiesFlags): Promise<FromEntities> {
  const folder = resolve(flags.folder)
  if (flags.builds) await buildProject(folder)
  const loaded = await compiledEntities(folder)
  const { entities } = loaded
  if (entities.length === 0)
    throw new Failure(
      'input',
      `no compiled module of ${relative('.', folder) || '.'} exports an entity class`,
    )
  checkNames(flags, entities)
  checkTenant(flags, chosenOf(flags, entities))
  return writtenResources(flags, {
    ...loaded,
    usesPostgres: usesPostgres(folder),
    noTenant: (tenant) =>
      `it has no property ${tenant}: add one, or name the class in --shared if all tenants share its rows`,
    decorate: ({ files }, additions) =>
      flags.write ? addDecorators(files, additions) : alreadyIn(files, additions),
  })
}

const chosenOf = ({ only }: ResourceChoices, entities: readonly LoadedEntity[]): readonly LoadedEntity[] =>
  entities.filter(({ facts }) => only.length === 0 || only.includes(facts.name))

/**
 * Writes the .proto files, the registration and the sources of classes.
 * @throws {Failure}
 */
export async function writtenResources(choices: ResourceChoices, origin: ClassOrigin): Promise<FromEntities> {
  const folder = resolve(choices.folder)
  const { entities, unexported, resources } = origin
  const chosen = chosenOf(choices, entities)
  const files = new ChangedFiles(folder)
  const written: { path: string; state: FileState }[] = []
  const notes: string[] = []
  const write = (path: string, text: string, comment?: string) => {
    const state = writeMarked(files, path, text, comment)
    written.push({ path: state === 'beside' ? `${path}.new` : path, state })
  }
  const extension = importExtension(folder)
  const packageName = choices.packageName ?? packageOf(folder)
  const taken = new Map<string, string>()
  const padded = origin.usesPostgres
    ? new Set(entities.filter(({ facts }) => hasPaddedKey(facts)).map(({ facts }) => facts.name))
    : new Set<string>()
  const registered: RegisteredEntity[] = []
  const additions = new Map<string, readonly AddedDecorators[]>()
  // A run for some classes keeps the services of the others.
  for (const loaded of entities)
    if (!chosen.includes(loaded) && isWritten(files, loaded)) {
      const one = registeredAs(loaded)
      registered.push(one)
      for (const symbol of symbolsOf(one.names)) taken.set(symbol, one.entity)
    }
  const decided = new Map(
    chosen.map((loaded) => [
      loaded,
      resources.has(loaded.facts.name) && !isWritten(files, loaded)
        ? 'it is a resource already'
        : (paddedKey(loaded, padded) ?? resourceOf(loaded, choices, origin, taken)),
    ]),
  )
  const served = new Set([...resources, ...registered.map(({ entity }) => entity)])
  for (const [{ facts }, made] of decided) if (typeof made !== 'string') served.add(facts.name)
  const keyOf = (entity: string) => {
    const made = [...decided].find(([{ facts }]) => facts.name === entity)?.[1]
    return typeof made === 'object' ? made.shown.key : undefined
  }
  const reports = [...decided].map(([loaded, found]): EntityReport => {
    if (typeof found === 'string') return refused(loaded, found)
    const made = withRelations(found, keyOf, served)
    const { names, shown, isReadOnly, canCreate } = made
    const path = protoPath(names)
    const numbers = fieldNumbers(files.text(path) ?? '', names.type)
    write(path, entityProto(shown, { canCreate, isReadOnly }, packageName, numbers))
    registered.push(registeredAs(loaded))
    const addition = additionOf(loaded, made, choices, extension)
    additions.set(loaded.source, [...(additions.get(loaded.source) ?? []), addition])
    return reportOf(loaded, made, addition)
  })
  if (registered.length > 0) {
    const buf = bufYaml(folder)
    const before = files.text(buf.path)
    if (before === undefined) write(buf.path, buf.text, '#')
    else if (!before.includes(buf.module))
      notes.push(`${buf.path} has no module ${buf.module}: add it under modules, as - path: ${buf.module}`)
    if (files.text('buf.gen.yaml') === undefined) write('buf.gen.yaml', bufGenYaml('src/gen', extension), '#')
    write(
      'src/resources.ts',
      registrationText(
        registered.sort((a, b) => (a.entity < b.entity ? -1 : 1)),
        extension,
        choices.withoutTenants,
      ),
    )
  }
  const decorated = origin.decorate({ files, write }, additions)
  files.write()
  try {
    // Runs even without changes, because an earlier run may have been interrupted before this step.
    if (registered.length > 0) await generateCode(folder)
  } catch (error) {
    files.restore()
    throw new Failure('input', `nothing is changed: ${(error as Error).message}`, { cause: error })
  }
  for (const { path } of files.paths)
    if (!written.some((one) => one.path === path)) written.push({ path, state: 'changed' })
  return {
    entities: reports.map((one) => (decorated.sources.has(one.source) ? { ...one, decorators: [] } : one)),
    written: written.filter(({ state }) => state !== 'unchanged'),
    notes: [
      ...notes,
      ...decorated.notes,
      ...unexported.map((name) => `${name} is left out: its module does not export it`),
      ...written
        .filter(({ state }) => state === 'beside')
        .map(({ path }) => `${path} is beside a file that was edited by hand: compare them`),
    ],
  }
}

const protoPath = ({ file }: EntityNames): string => `proto/${file}.proto`

const registeredAs = ({ facts, source }: LoadedEntity): RegisteredEntity => ({
  names: namesOf(resourceName(facts.name)),
  entity: facts.name,
  source,
})

/** Returns true if an earlier run has written the class's .proto file. */
const isWritten = (files: ChangedFiles, { facts }: LoadedEntity): boolean =>
  files.text(protoPath(namesOf(resourceName(facts.name)))) !== undefined

/**
 * Returns the reason why a key of the type char prevents a resource: PostgreSQL ignores its trailing spaces
 * in comparisons.
 */
function paddedKey({ facts }: LoadedEntity, padded: ReadonlySet<string>): string | undefined {
  if (padded.has(facts.name)) return 'its key has the type char: use varchar, which keeps trailing spaces'
  const [property, target] = [...facts.targets].find(([, name]) => padded.has(name)) ?? []
  return property === undefined
    ? undefined
    : `${property} refers to ${target}, whose key has the type char: use varchar, which keeps trailing spaces`
}

function usesPostgres(folder: string): boolean {
  const { dependencies = {} } = manifestOf(folder) ?? {}
  return 'pg' in dependencies && !('mysql2' in dependencies)
}

/** Returns a resource with the references of its relations, and the relations without a target resource. */
function withRelations(
  made: MadeResource,
  keyOf: (entity: string) => ShownField | undefined,
  served: ReadonlySet<string>,
): MadeResource {
  const shown = withReferences(made.shown, keyOf)
  const { relations, targets } = shown.facts
  const unmanaged = new Map(
    relations
      .filter(({ relationType }) => relationType !== 'many-to-many')
      .map(({ propertyName }) => [propertyName, targets.get(propertyName) ?? ''] as const)
      .filter(([, target]) => !served.has(target)),
  )
  return {
    ...made,
    shown: {
      ...shown,
      leftOut: [
        ...shown.leftOut.filter(({ property }) => !unmanaged.has(property)),
        ...[...unmanaged].map(([property, target]) => ({
          property,
          reason: `a relation to ${target}, which is not a resource`,
        })),
      ],
    },
    canCreate: !made.isReadOnly && shown.unfilled.length === 0,
    unmanaged: [...unmanaged.keys()],
  }
}

interface MadeResource {
  readonly names: EntityNames
  readonly shown: ShownEntity
  readonly isReadOnly: boolean
  readonly isShared: boolean
  readonly canCreate: boolean
  /** The relations that only TypeORM manages, because their targets are not resources. */
  readonly unmanaged: readonly string[]
}

/** Returns the resource of a class, or the reason why it gets none. */
function resourceOf(
  { facts, lacks, refusal, descriptions }: LoadedEntity,
  { tenant, withoutTenants, shared, show, readOnly }: ResourceChoices,
  { noTenant }: ClassOrigin,
  taken: Map<string, string>,
): MadeResource | string {
  if (refusal !== undefined) return refusal
  const isShared = shared.includes(facts.name)
  const own = facts.columns.map(({ propertyName }) => propertyName)
  if (tenant !== undefined && !isShared && !own.includes(tenant)) return noTenant(tenant)
  const [like] = namedLikeTenants(facts.entity)
  if (withoutTenants && !isShared && like !== undefined)
    return `${like} looks like a tenant: pass --tenant ${like}, or name the class in --shared if all callers share its rows`
  const found = shownEntity(facts, {
    tenant: isShared ? undefined : tenant,
    ...{ show: new Set(show), descriptions },
  })
  if (typeof found === 'string') return found
  const shown =
    lacks === undefined
      ? found
      : {
          ...found,
          leftOut: [...found.leftOut, ...lacks.leftOut],
          unfilled: [...found.unfilled, ...lacks.unfilled],
        }
  const names = namesOf(shown.name)
  if (!/^[a-z]\w*$/i.test(names.type)) return 'its name cannot be the name of a message'
  if (['DataSource', 'ServerBuilder'].includes(facts.name))
    return `src/resources.ts imports another ${facts.name}`
  const other = taken.get(names.snake)
  if (other !== undefined) return `${other} is the resource ${names.snake} already`
  const symbols = symbolsOf(names)
  const symbol = symbols.find((one) => taken.has(one))
  if (symbol !== undefined) return `the .proto of ${taken.get(symbol)} has the name ${symbol}, too`
  for (const one of [names.snake, ...symbols]) taken.set(one, facts.name)
  const isReadOnly = readOnly.includes(facts.name)
  const canCreate = !isReadOnly && shown.unfilled.length === 0
  return { names, shown, isReadOnly, isShared, canCreate, unmanaged: [] }
}

const refused = ({ facts, source, notes = [] }: LoadedEntity, why: string): EntityReport => ({
  ...{ entity: facts.name, resource: undefined, fields: [], leftOut: [], source, decorators: [] },
  notes: [`no resource: ${why}`, ...notes],
})

/** Returns the decorators of a class and their imports. */
function additionOf(
  { facts, source }: LoadedEntity,
  { names, shown, isShared, unmanaged }: MadeResource,
  { tenant }: ResourceChoices,
  extension: 'js' | 'none',
): AddedDecorators {
  const isScoped = tenant !== undefined && !isShared
  const schema = `${names.type}Schema`
  // At runtime, the field customer_id is matched with `customerId` but not with `customerID`.
  const declared = new Set([
    ...facts.columns.map(({ propertyName }) => propertyName),
    ...facts.embedded.map(({ property }) => property),
  ])
  const fields = new Map(
    shown.fields
      .filter(({ name, property }) => ![name, camelOf(name)].includes(property) && declared.has(property))
      .map(({ name, property }) => [property, name]),
  )
  return {
    entity: facts.name,
    decorators: [
      `@Resource({ message: ${schema}, existing: true, naming: 'typeorm'${isShared ? ', shared: true' : ''} })`,
      ...(isScoped ? [`@TenantScoped(${tenant === 'accountId' ? '' : `{ column: '${tenant}' }`})`] : []),
    ],
    internal: unmanaged,
    fields,
    imports: new Map([
      [
        'ashlar/decorators',
        [
          ...(unmanaged.length > 0 ? ['Internal'] : []),
          ...(fields.size > 0 ? ['ProtoField'] : []),
          ...['Resource', ...(isScoped ? ['TenantScoped'] : [])],
        ],
      ],
      [generatedFrom(source, `${names.file}_pb${extension === 'js' ? '.js' : ''}`), [schema]],
    ]),
  }
}

/** Returns the import path of generated code for a source. */
function generatedFrom(source: string, file: string): string {
  const path = relative(dirname(source), join('src/gen', file)).replaceAll('\\', '/')
  return path.startsWith('.') ? path : `./${path}`
}

const reportOf = (
  { facts, source, notes = [] }: LoadedEntity,
  { names, shown, isReadOnly, canCreate }: MadeResource,
  { decorators, imports, internal, fields = new Map<string, string>() }: AddedDecorators,
): EntityReport => ({
  entity: facts.name,
  resource: names.snake,
  fields: shown.fields.map(({ name }) => name),
  leftOut: shown.leftOut,
  notes: [
    ...(isReadOnly || canCreate
      ? []
      : [`no Create: a new row needs ${shown.unfilled.join(', ')}, which a client cannot send`]),
    ...notes,
  ],
  source,
  decorators: [
    ...[...imports].map(([module, exported]) => `import { ${exported.join(', ')} } from '${module}'`),
    ...decorators,
    ...internal.map((property) => `@Internal() above ${property}`),
    ...[...fields].map(([property, field]) => `${protoField(field)} above ${property}`),
  ],
})

/** Returns the sources that have all decorators already. */
function alreadyIn(files: ChangedFiles, additions: Additions): DecoratedSources {
  const isComplete = ([source, added]: [string, readonly AddedDecorators[]]) => {
    const text = files.text(source)
    const decorated = text === undefined ? undefined : decoratedSource(text, added)
    return decorated !== undefined && 'text' in decorated && decorated.text === text
  }
  return { sources: new Set([...additions].filter(isComplete).map(([source]) => source)), notes: [] }
}

/** Adds the decorators to the sources in which their classes are found. */
function addDecorators(files: ChangedFiles, additions: Additions): DecoratedSources {
  const sources = new Set<string>()
  const notes: string[] = []
  for (const [source, added] of additions) {
    const text = files.text(source)
    const decorated =
      text === undefined ? { problem: 'the source is not found' } : decoratedSource(text, added)
    if ('problem' in decorated) {
      notes.push(`${source} is not changed: ${decorated.problem}: add the decorators yourself`)
      continue
    }
    files.set(source, decorated.text)
    sources.add(source)
  }
  return { sources, notes }
}

/** @throws {Failure} for a flag that names an unknown class or property. */
export function checkNames(
  { only, readOnly, shared, show }: ResourceChoices,
  entities: readonly LoadedEntity[],
): void {
  const classes = entities.map(({ facts }) => facts.name)
  const properties = entities.flatMap(({ facts }) =>
    facts.columns.map(({ propertyName }) => `${facts.name}.${propertyName}`),
  )
  for (const [flag, given, known] of [
    ['only', only, classes],
    ['read-only', readOnly, classes],
    ['shared', shared, classes],
    ['show', show, properties],
  ] as const)
    for (const name of given)
      if (!known.includes(name)) {
        const [near] = nearestNames(name, known)
        const what = flag === 'show' ? 'a property of an entity class' : 'an entity class'
        throw new Failure(
          'input',
          `--${flag}: ${name} is not ${what}${near === undefined ? '' : `: did you mean ${near}?`}`,
        )
      }
}

/** @throws {Failure} unless the user has specified the tenant of the rows. */
function checkTenant({ tenant, withoutTenants }: ResourceChoices, entities: readonly LoadedEntity[]): void {
  const having = (property: string) =>
    entities.filter(({ facts }) => facts.columns.some(({ propertyName }) => propertyName === property)).length
  if (tenant !== undefined) {
    if (having(tenant) === 0)
      throw new Failure('input', `--tenant: no entity class has a column property ${tenant}`)
    return
  }
  if (withoutTenants) return
  const like = new Set(entities.flatMap(({ facts }) => namedLikeTenants(facts.entity)))
  const found = [...like]
    .filter((one) => having(one) > 0)
    .map((one) => `--tenant ${one} (${having(one)} of ${entities.length} classes have it)`)
  throw new Failure('input', `say whose the rows are: ${[...found, '--without-tenants'].join(', or ')}`)
}

/** Returns the proto package of a project: `@acme/web-shop` becomes `web_shop.v1`. */
function packageOf(folder: string): string {
  const name = relative(resolve(folder, '..'), folder)
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^[_0-9]+|_+$/g, '')
  return `${plain === '' ? 'app' : plain}.v1`
}
