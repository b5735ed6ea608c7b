import { SOFT_DELETE_KEY } from '../../resource/fields/column-names.js'
import type { Field } from '../../resource/fields/field.js'
import type { Facets } from '../../resource/kinds/kind.js'
import { kindOf, ownOf } from '../../resource/kinds/kinds.js'
import { string } from '../../resource/kinds/text.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import { hasDeleteKey } from '../dialects/column-sql.js'
import type { Dialect } from '../dialects/dialect.js'
import { constantText } from '../dialects/values/constant-text.js'
import type { KindSql } from '../dialects/values/kind-sql.js'
import type {
  ColumnDefinition,
  ExclusiveColumns,
  IndexDefinition,
  TableDefinition,
  TableName,
} from '../dialects/catalog/table-definition.js'
import { DELETE_ID } from '../deletion/rules/family.js'
import type { TableReferences } from './foreign-keys.js'
import { fillerOf } from './filler-of.js'
import { indexName } from './index-name.js'
import { internalDefinitions, internalIndexes, partOf, specialOf, sqlDefault } from './typeorm-columns.js'
import { tableNameOf } from './table-name-of.js'

/** The length of a UUID. */
const DELETE_ID_LENGTH = 36

/**
 * Returns a constant number, boolean or string default as SQL. MySQL requires parentheses around the default
 * of a long string.
 */
function initialOf(field: Field, dialect: Dialect): string | undefined {
  if (field.isGeneratedByDatabase === true && field.stored === undefined) return dialect.ddl.generatedUuid
  const { tableDefault } = field
  if (tableDefault === 'now') return dialect.ddl.now
  if (tableDefault !== undefined)
    return 'sql' in tableDefault ? sqlDefault(tableDefault.sql) : constantText(tableDefault.constant, dialect)
  const constant = field.default?.constant
  if (constant === undefined || field.json !== undefined) return undefined
  const { planValue, isText } = kindOf(field)
  const own = ownOf(constant, field)
  const value = constantText(planValue === undefined ? own : planValue(own, field), dialect)
  return value !== undefined && isText && field.maxLength === undefined ? `(${value})` : value
}

/**
 * Returns the clause of a generated column. PostgreSQL only has stored ones, for which TypeORM's option is
 * STORED.
 */
const generatedBy = ({ expression }: Field): string | undefined =>
  expression && `AS (${expression.sql}) ${expression.isStored ? 'STORED' : 'VIRTUAL'}`

/**
 * Returns the table of a resource in one dialect.
 *
 * @param links - references to other resources' tables. Default: none.
 */
export function tableOf(
  model: ResourceModel,
  dialect: Dialect,
  table: TableName = tableNameOf(model, dialect),
  links: TableReferences = UNLINKED,
): TableDefinition {
  const hasDiscriminator = hasDeleteKey(model, dialect)
  const columns: ColumnDefinition[] = model.fields.map((field) => ({
    name: field.column,
    ...typedBy(dialect.values.kinds[field.kind], field),
    ...(field.onUpdate !== undefined && {
      type: `${dialect.values.kinds[field.kind].type(field)}${dialect.ddl.typeormColumns.attributes({ onUpdate: field.onUpdate })}`,
    }),
    nullable: field.nullable || field.nullIsZero === true,
    fallback: undefined,
    initial: initialOf(field, dialect),
    ...(field.tableDefault !== undefined && { hasOwnDefault: true as const }),
    generated: generatedBy(field),
    filler: fillerOf(field, dialect),
    renamedFrom: field.renamedFrom,
    ...(field.isIdentity === true && { isIdentity: true }),
  }))
  const internal = model.internal()
  columns.push(...internalDefinitions(internal, dialect))
  if (hasDiscriminator)
    columns.push({
      name: SOFT_DELETE_KEY,
      ...typedBy(dialect.values.kinds[string.name], { maxLength: model.key.maxLength ?? 255 }),
      nullable: false,
      fallback: `''`,
    })
  if (links.isDeletedTogether)
    columns.push({
      name: DELETE_ID,
      ...typedBy(dialect.values.kinds[string.name], { maxLength: DELETE_ID_LENGTH }),
      nullable: true,
      fallback: undefined,
    })
  const scope = model.tenant === undefined ? [] : [model.tenant.column]
  return {
    ...table,
    tenant: model.tenant?.column,
    columns,
    primaryKey: model.tenantInKey ? [...scope, model.key.column] : [model.key.column],
    indexes: distinct([
      ...uniqueIndexes(model, dialect, scope, table.name),
      ...lookupIndexes(model, dialect, scope, table.name, links),
      ...internalIndexes(internal, table.name, dialect),
    ]),
    leftIndexes: internal.indexes.filter(({ isMade }) => !isMade),
    ...(model.oneofs.length > 0 && { exclusive: exclusiveOf(model, table.name) }),
    foreignKeys: links.foreignKeys.map((link) => ({
      ...link,
      name: indexName(table.name, link.columns, 'fkey'),
    })),
  }
}

/** Returns the checks of oneofs. A oneof with one member needs none. */
const exclusiveOf = ({ oneofs }: ResourceModel, table: string): readonly ExclusiveColumns[] =>
  oneofs.flatMap(({ name, members }) =>
    members.length < 2
      ? []
      : { name: indexName(table, [name], 'oneof'), columns: members.map(({ column }) => column) },
  )

const typedBy = (
  kind: KindSql,
  facets: Facets,
): Pick<ColumnDefinition, 'type' | 'catalogType' | 'isText'> => {
  const type = kind.type(facets)
  return {
    type,
    catalogType: kind.catalogType?.(facets) ?? type,
    isText: kind.isText && facets.stored === undefined,
  }
}

const UNLINKED: TableReferences = {
  foreignKeys: [],
  isReferenced: false,
  referenceIndexes: [],
  isDeletedTogether: false,
}

function uniqueIndexes(
  model: ResourceModel,
  dialect: Dialect,
  scope: readonly string[],
  table: string,
): IndexDefinition[] {
  const { partialIndexes } = dialect.can
  const live =
    model.deleteTime === undefined ? undefined : `${dialect.text.quote(model.deleteTime.column)} IS NULL`
  const declared = model.uniques.map((group): IndexDefinition => {
    const scoped = scopedColumns(group.fields, scope)
    const columns = [...scoped, ...(hasDeleteKey(model, dialect) ? [SOFT_DELETE_KEY] : [])]
    return {
      name: group.name ?? indexName(table, [...scoped, ...partOf(group)], 'key'),
      columns,
      unique: true,
      where: partialIndexes ? live : undefined,
      ...specialOf(group, dialect),
    }
  })
  const publicIds = model.credentials.map(({ publicId }) => ({
    name: indexName(table, [publicId.column], 'key'),
    columns: [publicId.column],
    unique: true,
    where: undefined,
  }))
  return [...declared, ...publicIds]
}

function lookupIndexes(
  model: ResourceModel,
  dialect: Dialect,
  scope: readonly string[],
  table: string,
  { isReferenced, referenceIndexes }: TableReferences,
): IndexDefinition[] {
  const isUnique = isReferenced || model.key.isIdentity === true
  const lookups: { readonly columns: readonly string[]; readonly name?: string | undefined }[] = []
  if (!model.tenantInKey && scope.length > 0 && !isUnique)
    lookups.push({ columns: [...scope, model.key.column] })
  for (const time of [model.createTime, model.updateTime])
    if (time?.filterable) lookups.push({ columns: [...scope, time.column, model.key.column] })
  for (const { hash } of model.secrets)
    if (hash.maxLength !== undefined) lookups.push({ columns: [...scope, hash.column] })
  if (model.expireTime !== undefined) lookups.push({ columns: [model.expireTime.column] })
  const special: IndexDefinition[] = []
  for (const group of model.indexes) {
    const columns =
      group.method === undefined
        ? scopedColumns(group.fields, scope)
        : group.fields.map(({ column }) => column)
    const own = specialOf(group, dialect)
    if (Object.keys(own).length === 0)
      lookups.push({ columns: scopedColumns(group.fields, scope), name: group.name })
    else {
      const name = group.name ?? indexName(table, [...columns, ...partOf(group)], 'idx')
      special.push({ name, columns, unique: false, where: undefined, ...own })
    }
  }
  const known = new Set(lookups.map(({ columns }) => columns.join()))
  for (const columns of referenceIndexes) if (!known.has(columns.join())) lookups.push({ columns })
  const indexes = lookups.map(({ columns, name = indexName(table, columns, 'idx') }) => ({
    name,
    columns,
    unique: false,
    where: undefined,
  }))
  const all = [...indexes, ...special]
  return isUnique && scope.length > 0 ? [...all, tenantKeyIndex(model, table)] : all
}

/** Returns the index that references with a tenant point to, if the primary key is only the key. */
export function tenantKeyIndex({ tenant, key }: ResourceModel, table: string): IndexDefinition {
  const columns = tenant === undefined ? [key.column] : [tenant.column, key.column]
  return { name: indexName(table, columns, 'key'), columns, unique: true, where: undefined }
}

/** Returns index columns with the tenant first, independent of the declaration. */
const scopedColumns = (fields: readonly Field[], scope: readonly string[]): readonly string[] => [
  ...scope,
  ...fields.map(({ column }) => column).filter((column) => !scope.includes(column)),
]

/**
 * Removes duplicate indexes, because a declaration may repeat another one or an index of Ashlar's. An index
 * with its own name comes last and is kept.
 */
function distinct(indexes: readonly IndexDefinition[]): IndexDefinition[] {
  const shape = ({ columns, unique, where, method }: IndexDefinition) =>
    JSON.stringify([columns, unique, where, method])
  return [...new Map(indexes.map((index) => [shape(index), index])).values()]
}
