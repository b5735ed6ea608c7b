import { type DataSource, getMetadataArgsStorage } from 'typeorm'
import { inheritedFacts, lineage } from '../../decorators/entity-facts.js'
import { type DeclaredProblem, DeclarationError, inEntity } from '../errors.js'
import type { EntityClass, ResourceModel } from '../resource/resource-model.js'
import { type Services, servicesBeside } from '../resource/messages/services-beside.js'
import { typeOfClass } from '../resource/resource-type.js'
import { executorOf } from './engines/executor-of.js'
import { memoryProblems } from './memory/memory-repository.js'
import { declaredIn, namingOf, problemsOf, readResources } from './schema/resources-in.js'
import { tableNameProblems } from './schema/table-migrations.js'
import { type Naming, tableNameOf, tableText } from './schema/table-name-of.js'
import { postgres } from './dialects/postgres.js'
import { connected, unconnected } from './inspected-database.js'
import { DataSourceCheck } from './start-up/data-source-check.js'
import { relationNotes, unmanagedNotes } from './start-up/relation-notes.js'

/**
 * A declared resource class.
 * @internal
 */
export interface InspectedResource {
  /** The class's name. */
  readonly entity: string
  /** The resource type, such as `widget`. */
  readonly type: string
  /** The table. Undefined if the declarations are invalid, in which case nothing else is known. */
  readonly table?: string
  /** The full name of the message. */
  readonly message?: string
  /** The names of the fields that clients can see. */
  readonly fields: readonly string[]
  /** The properties that only application code reads and writes. */
  readonly code: readonly string[]
  /** The properties whose columns and relations Ashlar does not manage. */
  readonly unmanaged: readonly string[]
  readonly notes: readonly string[]
}

/**
 * The facts about resources that are known without a server.
 * @internal
 */
export interface Inspection {
  readonly resources: readonly InspectedResource[]
  readonly problems: readonly DeclaredProblem[]
  /** The classes with invalid declarations. */
  readonly invalid: readonly unknown[]
  /** True if the database was inspected. */
  readonly isConnected: boolean
  /** The parts that were not inspected, with reasons. */
  readonly notes: readonly string[]
  /** The services in the proto files of the messages. */
  readonly services: Services
}

/**
 * Inspects the resource classes that a module exports, and collects their problems.
 *
 * @internal
 * @param url - the connection string of a database. If the database can be reached, it is inspected, too.
 * @throws TypeError if the connection string is invalid.
 */
export async function inspectResources(exports: object, url?: string): Promise<Inspection> {
  const { classes, dataSources } = declaredIn(exports)
  const [declared] = dataSources
  const { models, refused } = readResources(classes)
  const naming = declared === undefined ? {} : namingOf(declared)
  const { options, namingStrategy } = naming
  const named = { ...options, ...(namingStrategy !== undefined && { namingStrategy }) }
  const entities = entitiesIn(exports)
  const database = await (url === undefined ? unconnected(entities) : connected(url, entities, named))
  const isConnected = database.dataSource?.isInitialized === true
  const found = await findingsOn(models, database.dataSource)
  const resources = classes.map((entity): InspectedResource => {
    const at = models.findIndex((model) => model.entity === entity)
    const model = models[at]
    if (model === undefined)
      return { entity: entity.name, type: typeIn(entity), fields: [], code: [], unmanaged: [], notes: [] }
    const warnings = found[at]?.warnings ?? []
    return { ...inspected(model, naming), notes: [...memoryNotes(model), ...warnings] }
  })
  return {
    resources: resources.sort((a, b) => (a.entity < b.entity ? -1 : 1)),
    problems: [
      ...problemsOf(refused),
      ...attempted(() => tableNameProblems(models, naming)),
      ...found.flatMap(({ problems }) => problems),
      ...database.problems,
    ],
    invalid: classes.filter((entity) => models.every((model) => model.entity !== entity)),
    services: servicesBeside(classes.flatMap((entity) => inheritedFacts(entity).resource?.message ?? [])),
    isConnected,
    notes: database.notes,
  }
}

async function findingsOn(models: readonly ResourceModel[], dataSource: DataSource | undefined) {
  if (dataSource === undefined) return []
  try {
    return await Promise.all(models.map((model) => findingsOf(model, dataSource)))
  } finally {
    if (dataSource.isInitialized) await dataSource.destroy()
  }
}

function inspected(model: ResourceModel, naming: Naming): Omit<InspectedResource, 'notes'> {
  const { entity, type, message, name, entityFields, computed, secrets, credentials } = model
  const isShown = ({ exposed }: { readonly exposed: boolean }) => exposed
  const shown = [...entityFields.filter(isShown), ...computed.filter(isShown)].map(({ proto }) => proto)
  const hidden = entityFields.filter((field) => !field.exposed).map(({ property }) => property)
  return {
    entity: entity.name,
    type,
    table: tableText(tableNameOf(model, postgres, naming)),
    ...(message !== undefined && { message: message.typeName }),
    fields: [
      ...(name === undefined ? [] : [name.field.name]),
      ...shown,
      ...[...secrets, ...credentials].map(({ proto }) => proto),
    ],
    code: hidden,
    unmanaged: unmanagedIn(model),
  }
}

/** Returns the properties that TypeORM knows but the model does not. */
function unmanagedIn({ entity, fields, relations, secrets, credentials }: ResourceModel): readonly string[] {
  const classes = new Set<unknown>(lineage(entity))
  const known = new Set([...fields, ...relations, ...secrets, ...credentials].map(({ property }) => property))
  const { columns, relations: declared, embeddeds, relationIds } = getMetadataArgsStorage()
  const all: readonly { readonly target: unknown; readonly propertyName: string }[] = [
    ...columns,
    ...declared,
    ...embeddeds,
    ...relationIds,
  ]
  const names = all.filter(({ target }) => classes.has(target)).map(({ propertyName }) => propertyName)
  return [...new Set(names)].filter((property) => !known.has(property))
}

const memoryNotes = (model: ResourceModel): readonly string[] =>
  memoryProblems(model).map(({ rule, advice = '' }) => `in memory: ${rule}: ${advice}`)

/**
 * Returns the findings about a resource in a database. Without a database, returns the notes about its
 * relations.
 */
async function findingsOf(
  model: ResourceModel,
  dataSource: DataSource,
): Promise<{ readonly problems: readonly DeclaredProblem[]; readonly warnings: readonly string[] }> {
  const { entity } = model
  if (!dataSource.isInitialized) {
    const notes = [unmanagedNotes, relationNotes].flatMap((find) =>
      attempted(() => find({ dataSource, model }).warnings),
    )
    return { problems: [], warnings: notes }
  }
  try {
    const { problems, warnings } = await new DataSourceCheck(executorOf(dataSource), model).startUp()
    return { problems: inEntity(entity, problems, true), warnings }
  } catch (error) {
    if (!(error instanceof DeclarationError)) throw error
    return { problems: problemsOf([error]), warnings: [] }
  }
}

/** Returns the findings, or an empty list if a resource's own problems prevent the comparison. */
function attempted<T>(find: () => readonly T[]): readonly T[] {
  try {
    return find()
  } catch (error) {
    if (!(error instanceof DeclarationError)) throw error
    return []
  }
}

/**
 * Returns all exported entities, even if they are not resources, because resources can be related to them.
 */
const entitiesIn = (exports: object): readonly (new () => object)[] => {
  const entities = new Set(getMetadataArgsStorage().tables.map(({ target }) => target))
  return Object.values(exports).filter((one): one is new () => object => entities.has(one as () => void))
}

const typeIn = (entity: EntityClass<object>): string =>
  inheritedFacts(entity).resource?.type ?? typeOfClass(entity.name)
