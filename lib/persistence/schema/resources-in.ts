import { refuseOtherCopy } from '../../resource/typeorm/other-copy.js'
import type { DataSource } from 'typeorm'
import { type DeclaredProblem, DeclarationError, inEntity, problem } from '../../errors.js'
import {
  type EntityClass,
  isResource,
  resourceModel,
  type ResourceModel,
} from '../../resource/resource-model.js'
import { sharedTypeProblems } from '../../resource/resource-type.js'
import { relationProblems } from '../deletion/rules/relation-problems.js'
import { postgres } from '../dialects/postgres.js'
import { type Naming, tableNameOf, tableText } from './table-name-of.js'

/**
 * The exports of a module that define its tables.
 * @internal
 */
export interface Resources {
  /** The models, sorted by table name. */
  readonly models: readonly ResourceModel[]
  /** The naming of the exported DataSource. Empty without one. @internal */
  readonly naming: Naming
  /**
   * The schema of the exported DataSource. It is not part of `naming`, because migrations run within a
   * module's schema.
   */
  readonly schema: string | undefined
}

/**
 * Returns the resources in a list or among a module's exports, and how an exported DataSource names their
 * tables.
 *
 * @internal
 * @throws DeclarationError if a resource's declarations contradict each other, if DataSources disagree, or
 *   if a class was declared with another copy of this package.
 */
export function resourcesIn(exports: object): Resources {
  const { classes, dataSources } = declaredIn(exports)
  const models = modelsOf(classes)
  const [dataSource, ...others] = dataSources
  if (dataSource === undefined) return { models: sorted(models, {}), naming: {}, schema: undefined }
  const namesBy = (one: DataSource) =>
    JSON.stringify([schemaOf(one), models.map((model) => tableNameOf(model, postgres, namingOf(one)))])
  if (others.some((other) => namesBy(other) !== namesBy(dataSource)))
    throw new DeclarationError('entities', [
      problem(
        'dataSource',
        'the module exports DataSources that differ in schema, entityPrefix or naming strategy',
        'export only the DataSource that has the tables',
      ),
    ])
  const naming = namingOf(dataSource)
  return { models: sorted(models, naming), naming, schema: schemaOf(dataSource) }
}

/** Returns the exported resource classes and DataSources of a module. */
export function declaredIn(exports: object) {
  const values = [...new Set<unknown>(Object.values(exports))]
  for (const value of values) if (typeof value === 'function') refuseOtherCopy(value)
  return { classes: values.filter(isResource), dataSources: values.filter(isDataSource) }
}

function sorted(models: readonly ResourceModel[], naming: Naming): readonly ResourceModel[] {
  // MySQL has databases instead of schemas.
  const named = models.map((model) => ({
    model,
    name: `${tableText(tableNameOf(model, postgres, naming))}\0${model.declaredTable.database ?? ''}`,
  }))
  return named.sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ model }) => model)
}

export function namingOf({ options: { entityPrefix }, namingStrategy }: DataSource): Naming {
  return { options: entityPrefix === undefined ? {} : { entityPrefix }, namingStrategy }
}

/**
 * Checks the declarations of resources.
 *
 * @throws DeclarationError for resources whose declarations contradict each other.
 */
export function checkResources(entities: object): void {
  modelsOf(Object.values(entities).filter(isResource))
}

const fitting = new WeakSet<DataSource>()

/**
 * Returns the model of a resource on a DataSource.
 *
 * @throws DeclarationError with the problems of all resources of the DataSource, so that one startup
 *   reports them all.
 */
export function modelOn<E extends object>(dataSource: DataSource, entity: EntityClass<E>): ResourceModel<E> {
  const { isInitialized, entityMetadatas, options } = dataSource
  if (!fitting.has(dataSource)) {
    checkResources(isInitialized ? entityMetadatas.map(({ target }) => target) : { ...options.entities })
    if (isInitialized) fitting.add(dataSource)
  }
  return resourceModel(entity)
}

/** Resources whose declarations were read. */
export interface ReadResources {
  /** The models of classes whose own declarations are valid. */
  readonly models: readonly ResourceModel[]
  /** The problems of each invalid class and of relations between classes. */
  readonly refused: readonly DeclarationError[]
}

export function readResources(entities: readonly EntityClass<object>[]): ReadResources {
  const refused: DeclarationError[] = []
  const models = entities.flatMap((entity) => {
    try {
      return [resourceModel(entity)]
    } catch (error) {
      if (!(error instanceof DeclarationError)) throw error
      refused.push(error)
      return []
    }
  })
  for (const [at, ofRelations] of relationProblems(models).entries()) {
    const model = models[at] as ResourceModel
    const { entity } = model
    const problems = [...ofRelations, ...sharedTypeProblems(model, models)]
    if (problems.length > 0) refused.push(new DeclarationError(entity.name, inEntity(entity, problems)))
  }
  return { models, refused }
}

/**
 * Returns the models of resource classes.
 *
 * @throws DeclarationError with the problems of all classes and of relations between them.
 */
export function modelsOf(entities: readonly EntityClass<object>[]): readonly ResourceModel[] {
  const { models, refused } = readResources(entities)
  const [only, another] = refused
  if (only !== undefined && another === undefined) throw only
  if (refused.length > 0) throw new DeclarationError('entities', problemsOf(refused))
  return models
}

/** Returns the problems of several classes, each with its class name. */
export const problemsOf = (refused: readonly DeclarationError[]): readonly DeclaredProblem[] =>
  refused.flatMap(({ subject, values }) =>
    values.map((one) => ({ ...one, entity: subject, text: `${subject}: ${one.text}` })),
  )

/**
 * Returns the resources of an initialized DataSource. Empty before.
 *
 * @throws DeclarationError like {@link checkResources}.
 */
export const resourcesOf = ({
  entityMetadatas = [],
}: Pick<Naming, 'entityMetadatas'>): readonly ResourceModel[] =>
  entityMetadatas.flatMap(({ target }) => (isResource(target) ? [resourceModel(target)] : []))

/** Recognizes a DataSource by TypeORM's marker, because a module may have its own copy of TypeORM. */
const isDataSource = (value: unknown): value is DataSource =>
  typeof value === 'object' &&
  value !== null &&
  Reflect.get(value, '@instanceof') === Symbol.for('DataSource')

const schemaOf = ({ options }: DataSource): string | undefined =>
  ('schema' in options && options.schema) || undefined
