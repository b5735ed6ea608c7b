import { DefaultNamingStrategy, type DataSource } from 'typeorm'
import { namedBy } from '../../resource/named-by.js'
import { DeclarationError, inEntity, problem, type Problem, propertyProblem } from '../../errors.js'
import { rawSqlProblem } from '../../resource/search/raw-sql.js'
import { isOwning } from '../../resource/relations/relation.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Dialect } from '../dialects/dialect.js'
import type { TableName } from '../dialects/catalog/table-definition.js'

/**
 * The part of a DataSource that, together with the entity, determines TypeORM's table name. The DataSource
 * may be uninitialized.
 */
export type Naming = Partial<
  Pick<DataSource, 'driver' | 'namingStrategy' | 'hasMetadata' | 'getMetadata' | 'entityMetadatas'>
> & { readonly options?: { readonly entityPrefix?: string; readonly schema?: string } }

/** Returns `schema.table`, for messages. */
export const tableText = ({ schema, name }: TableName): string =>
  schema === undefined ? name : `${schema}.${name}`

/**
 * Returns the table in which TypeORM's own manager finds a resource's rows, according to `@Entity`, the
 * DataSource's `schema` and `entityPrefix`, and its naming strategy.
 *
 * @throws DeclarationError if TypeORM would split the name or cannot reach it, or if its naming strategy
 *   renames columns.
 */
export function tableNameOf(model: ResourceModel, dialect: Dialect, naming: Naming = {}): TableName {
  const meant = meantBy(model, naming)
  const problems = [
    ...databaseProblems(meant, dialect, naming),
    ...columnProblems(model, naming),
    ...metadataProblems(model, dialect, naming),
  ]
  const name = placed(meant, dialect)
  if (name === undefined)
    problems.push(
      problem(
        'table',
        `TypeORM reads the dots in the table name ${meant.name} as a path to another schema`,
        'name the table without a dot, and its schema in @Entity({ schema }) (MySQL: database)',
      ),
    )
  else if (name.name !== model.table) problems.push(...searchProblems(model, name.name))
  if (name === undefined || problems.length > 0)
    throw new DeclarationError(model.entity.name, inEntity(model.entity, problems))
  return name
}

/**
 * Returns a function that looks up each resource's table once.
 *
 * @throws DeclarationError like {@link tableNameOf}.
 */
export const tableNames = (dialect: Dialect, naming?: Naming): ((model: ResourceModel) => TableName) => {
  const known = new Map<ResourceModel, TableName>()
  return (model) => {
    let name = known.get(model)
    if (name === undefined) known.set(model, (name = tableNameOf(model, dialect, naming)))
    return name
  }
}

interface Meant {
  readonly name: string
  readonly schema: string | undefined
  readonly database: string | undefined
}

const DEFAULTS = new DefaultNamingStrategy()

/**
 * Returns the name in TypeORM's EntityMetadata if the DataSource is initialized, or the name that it will
 * have.
 */
function meantBy({ entity, declaredTable, strategy }: ResourceModel, naming: Naming): Meant {
  const metadata = metadataOf(entity, naming)
  if (metadata !== undefined)
    return { name: metadata.tableName, schema: metadata.schema, database: metadata.database }
  const { options, namingStrategy = strategy ?? DEFAULTS } = naming
  const plain = namingStrategy.tableName(entity.name, declaredTable.name)
  const prefix = options?.entityPrefix
  return {
    name: prefix === undefined || prefix === '' ? plain : namingStrategy.prefixTableName(prefix, plain),
    schema: declaredTable.schema ?? options?.schema,
    database: declaredTable.database,
  }
}

const metadataOf = (entity: ResourceModel['entity'], naming: Naming) =>
  naming.hasMetadata?.(entity) === true ? naming.getMetadata?.(entity) : undefined

/**
 * Returns the qualified name as TypeORM's drivers and query builder interpret it. On MySQL schemas are
 * databases. A name with a dot is a path.
 */
function placed({ name, schema, database }: Meant, dialect: Dialect): TableName | undefined {
  const {
    catalog: { namespace },
  } = dialect
  const qualifier = (namespace && { schema, database }[namespace.kind]) || undefined
  if (!name.includes('.')) return { schema: qualifier, name }
  if (namespace === undefined) return undefined
  const [first = '', second = '', ...more] = name.split('.')
  const isPath = qualifier === undefined && first !== '' && second !== '' && more.length === 0
  return isPath ? { schema: first, name: second } : undefined
}

/** Reports a different database. Only MySQL can access one on the same connection. */
function databaseProblems({ database }: Meant, dialect: Dialect, { driver }: Naming): Problem[] {
  if (dialect.catalog.namespace?.kind === 'database' || database === undefined) return []
  if (driver === undefined || driver.database === undefined || driver.database === database) return []
  return [
    problem(
      'table',
      `@Entity({ database: ${JSON.stringify(database)} })`,
      `a ${dialect.label} connection only reaches its own database: remove it, and give the entity to a DataSource of that database`,
    ),
  ]
}

/** Reports columns in which TypeORM's manager would not find the values that a repository writes. */
function columnProblems(model: ResourceModel, naming: Naming): Problem[] {
  const theirs = theirColumns(model, naming)
  if (theirs === undefined) return []
  const { strategy, fields, relations } = model
  const isDefault = naming.namingStrategy?.constructor.name === DefaultNamingStrategy.name
  return fields.flatMap(({ property, column }) => {
    const name = theirs.get(property)
    if (name === undefined || name === column) return []
    const relation = relations.find(
      (one) => isOwning(one) && one.isHidden && one.reference.property === property,
    )
    const how = relation === undefined ? '@Column' : '@JoinColumn'
    return [
      propertyProblem(
        'table',
        relation?.property ?? property,
        `${relation?.property ?? property} is stored in ${column}${strategy === undefined ? '' : ' by the naming of @Resource()'}, but the DataSource's naming strategy calls it ${name}`,
        `give both the same strategy: write @Resource({ naming: ${isDefault ? "'typeorm'" : `new ${naming.namingStrategy?.constructor.name ?? ''}()`} })${strategy === undefined ? ', or use a strategy that keeps explicit names' : ', or change the namingStrategy of the DataSource'}; or name only this column with ${how}({ name: ${JSON.stringify(name)} })`,
      ),
    ]
  })
}

/** Returns TypeORM's column names by property, as they are or will be once the DataSource is initialized. */
function theirColumns(model: ResourceModel, naming: Naming): ReadonlyMap<string, string> | undefined {
  const metadata = metadataOf(model.entity, naming)
  if (metadata === undefined) return naming.namingStrategy && namedBy(model, naming.namingStrategy)
  const columns = new Map(
    metadata.columns.map((one) => [
      one.embeddedMetadata === undefined ? one.propertyName : one.propertyPath,
      one.databaseName,
    ]),
  )
  for (const relation of model.relations) {
    if (!isOwning(relation) || !relation.isHidden) continue
    const joined = metadata.findRelationWithPropertyPath(relation.property)?.joinColumns ?? []
    const tenant = model.tenant?.property
    const own = joined.filter(({ referencedColumn }) => referencedColumn?.propertyName !== tenant)
    if (own[0] !== undefined) columns.set(relation.reference.property, own[0].databaseName)
  }
  return columns
}

function metadataProblems(model: ResourceModel, dialect: Dialect, naming: Naming): Problem[] {
  const metadata = metadataOf(model.entity, naming)
  if (metadata === undefined) return []
  const twin = naming.entityMetadatas?.find(
    (other) =>
      other !== metadata &&
      other.tablePath === metadata.tablePath &&
      (other.schema !== metadata.schema || other.database !== metadata.database),
  )
  return twin === undefined
    ? []
    : [
        problem(
          'table',
          `it shares the table ${metadata.tablePath} with ${twin.name}, because TypeORM ignores ${dialect.catalog.namespace?.kind === 'schema' ? 'the database' : 'the schema'} of an entity on this engine`,
          'give one of them another name',
        ),
      ]
}

/** Reports raw SQL that uses a different table name. It was checked against the name in the entity. */
function searchProblems({ search, fields }: ResourceModel, table: string): Problem[] {
  return (search?.parts ?? []).flatMap((part) => {
    const raw = part.kind === 'expression' ? part.postgres : undefined
    const why = raw === undefined ? undefined : rawSqlProblem(raw, fields, table)
    return why === undefined
      ? []
      : [problem('search', `@Searchable: sql.postgres ${JSON.stringify(raw)}: ${why}`)]
  })
}
