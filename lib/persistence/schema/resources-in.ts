import type { DataSource } from 'typeorm'
import { inheritedFacts } from '../../../decorators/metadata.js'
import { DeclarationError } from '../../errors.js'
import { type EntityClass, resourceModel, type ResourceModel } from '../../resource/resource-model.js'
import { postgres } from '../dialects/postgres.js'
import { type Naming, tableNameOf, tableText } from './table-name-of.js'

/** The exports of a module that define its tables. */
export interface Resources {
  /** By the names of their tables. */
  readonly models: readonly ResourceModel[]
  /** The naming of the DataSource among the exports; empty without one. */
  readonly naming: Naming
  /** The schema of that DataSource. It is not part of `naming`, because migrations run within a module's schema. */
  readonly schema: string | undefined
}

/**
 * The resources among a module's exports, or in a list, and how the DataSource that it exports names their tables.
 * @throws DeclarationError for a resource whose declarations do not fit together, and for DataSources that disagree.
 */
export function resourcesIn(exports: object): Resources {
  const values = [...new Set<unknown>(Object.values(exports))]
  const models = values.filter(isResource).map((entity) => resourceModel(entity))
  const [dataSource, ...others] = values.filter(isDataSource)
  if (dataSource === undefined) return { models: sorted(models, {}), naming: {}, schema: undefined }
  const namesBy = (one: DataSource) =>
    JSON.stringify([schemaOf(one), models.map((model) => tableNameOf(model, postgres, namingOf(one)))])
  if (others.some((other) => namesBy(other) !== namesBy(dataSource)))
    throw new DeclarationError('entities', [
      'the module exports DataSources that differ in schema, entityPrefix or naming strategy: export the one that the tables are for',
    ])
  const naming = namingOf(dataSource)
  return { models: sorted(models, naming), naming, schema: schemaOf(dataSource) }
}

function sorted(models: readonly ResourceModel[], naming: Naming): readonly ResourceModel[] {
  const named = models.map((model) => ({ model, name: tableText(tableNameOf(model, postgres, naming)) }))
  return named.sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ model }) => model)
}

function namingOf({ options: { entityPrefix }, namingStrategy }: DataSource): Naming {
  return { options: entityPrefix === undefined ? {} : { entityPrefix }, namingStrategy }
}

/** @throws DeclarationError for the first resource among them whose declarations do not fit together. */
export function checkResources(entities: object): void {
  for (const entity of Object.values(entities)) if (isResource(entity)) resourceModel(entity)
}

/** The resources of an initialized DataSource; none before. @throws DeclarationError as {@link checkResources}. */
export const resourcesOf = ({
  entityMetadatas = [],
}: Pick<Naming, 'entityMetadatas'>): readonly ResourceModel[] =>
  entityMetadatas.flatMap(({ target }) => (isResource(target) ? [resourceModel(target)] : []))

const isResource = (value: unknown): value is EntityClass<object> =>
  typeof value === 'function' && inheritedFacts(value).resource !== undefined

/** By TypeORM's own mark: the module may have a copy of TypeORM of its own. */
const isDataSource = (value: unknown): value is DataSource =>
  typeof value === 'object' &&
  value !== null &&
  Reflect.get(value, '@instanceof') === Symbol.for('DataSource')

const schemaOf = ({ options }: DataSource): string | undefined =>
  ('schema' in options && options.schema) || undefined
