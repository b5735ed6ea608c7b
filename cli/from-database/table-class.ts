import {
  type Catalog,
  type CatalogColumn,
  type CatalogConstraint,
  type CatalogTable,
  keyOf,
} from './database-catalog.js'
import { propertyNames } from './class-names.js'
import { columnSize, columnType, type ColumnType, literalDefault } from './column-types.js'
import {
  type ClassProperty,
  type Decorator,
  type EntityClass,
  Sql,
  Target,
  type Value,
} from './entity-class.js'
import { setByTriggers } from './trigger-columns.js'

/** The other tables and the user's choices. */
export interface TableContext {
  readonly catalog: Catalog
  /** The class of each table, by the table's id. */
  readonly names: ReadonlyMap<string, string>
  /** The tenant column; undefined if there are no tenants. */
  readonly tenant: string | undefined
}

/** A table and its class, with the columns and features that the class does not represent. */
export interface TableClass {
  readonly table: CatalogTable
  readonly entity: EntityClass
  /** The property of each column. */
  readonly properties: ReadonlyMap<string, string>
  readonly leftOut: readonly { readonly property: string; readonly reason: string }[]
  /** The properties that only TypeORM reads and writes. */
  readonly internal: ReadonlySet<string>
  /** The reason why the table cannot be a resource. */
  readonly refusal: string | undefined
  /** Required columns without a field. */
  readonly unfilled: readonly string[]
  readonly notes: readonly string[]
}

/** Returns the entity class of a table. */
export function tableClass(table: CatalogTable, context: TableContext): TableClass {
  const { catalog, names, tenant } = context
  const named = propertyNames(columnNames(table, tenant))
  const properties = new Map<string, string>()
  const made: ClassProperty[] = []
  const leftOut: { property: string; reason: string }[] = []
  const internal = new Set<string>()
  const unfilled: string[] = []
  let refusal = unsharedKey(table, tenant)
  for (const column of table.columns) {
    const property = named.get(column.name)
    const type = columnType(column, catalog.types)
    if (property === undefined || type === undefined) {
      const reason =
        type === undefined
          ? `TypeORM has no type ${column.declared}`
          : 'its name cannot be the name of a property, or another column has it'
      leftOut.push({ property: column.name, reason })
      if (isNeeded(column)) refusal = `a new row needs ${column.name}, and ${reason}: give it a default`
      continue
    }
    properties.set(column.name, property)
    const isPadded = column.type === 'bpchar' && !keyOf(table).includes(column.name) && column.name !== tenant
    const one = columnProperty(column, property, type, table, context)
    made.push(isPadded ? { ...one, decorators: [{ name: 'Internal', args: [] }, ...one.decorators] } : one)
    if (!isPadded) continue
    internal.add(property)
    leftOut.push({ property, reason: 'the type char adds spaces to shorter values: use varchar' })
    if (isNeeded(column)) unfilled.push(property)
  }
  const references = table.constraints
    .filter(({ kind, target }) => kind === 'f' && names.has(target))
    .map((one) => referenceOf(one, table, properties, context))
  const taken = new Set([...properties.values()])
  for (const one of references) if ('relation' in one) made.push(relationProperty(one, taken))
  return {
    table,
    entity: {
      name: names.get(table.id) as string,
      decorators: [
        entityDecorator(table),
        ...references.flatMap((one) => ('foreignKey' in one ? [one.foreignKey] : [])),
        ...constraintDecorators(table, properties),
        ...indexDecorators(table, properties),
      ],
      properties: made,
    },
    ...{ properties, leftOut, internal, unfilled, refusal },
    notes: notesOf(table, context),
  }
}

/** Returns the column names with the tenant's first, so that no other column takes its property. */
const columnNames = ({ columns }: CatalogTable, tenant: string | undefined): readonly string[] =>
  columns.map(({ name }) => name).toSorted((a, b) => Number(b === tenant) - Number(a === tenant))

/**
 * Returns the reason why a generated key cannot be a resource's key: no index guarantees that it is unique
 * across tenants.
 */
function unsharedKey(table: CatalogTable, tenant: string | undefined): string | undefined {
  const key = keyOf(table)
  const [own = '', ...more] = key.filter((one) => one !== tenant)
  const column = table.columns.find(({ name }) => name === own)
  if (more.length > 0 || key.length === 1 || column === undefined || !isNumbered(column)) return undefined
  const isUnique = [
    ...table.constraints.filter(({ kind }) => kind === 'u').map(({ columns }) => columns),
    ...table.indexes
      .filter((one) => one.isUnique && !one.isSpecial && one.condition === null)
      .map(({ columns }) => columns),
  ].some((columns) => columns.join() === own)
  return isUnique
    ? undefined
    : `the database generates its key ${own}, and nothing keeps it unique: add a unique index on ${own}`
}

const isNumbered = ({ identity, default: sql }: CatalogColumn): boolean =>
  identity !== '' || /^nextval\(/.test(sql ?? '')

function entityDecorator({ schema, name, comment }: CatalogTable): Decorator {
  const options = { ...(schema === 'public' ? {} : { schema }), ...(comment === null ? {} : { comment }) }
  return { name: 'Entity', args: [name, ...(Object.keys(options).length === 0 ? [] : [options])] }
}

/** Returns true if an INSERT without the column fails. */
const isNeeded = (column: CatalogColumn): boolean =>
  column.isRequired && column.default === null && column.computed === null && column.identity === ''

const NOW =
  /^(now\(\)|(current|local)_?timestamp(\(\d\))?|(clock|statement|transaction)_timestamp\(\)|timezone\('utc'::text, now\(\)\))$/i
const TIMES = new Set(['timestamp', 'timestamptz'])
const MINTS_UUID = /^(\w+\.)?(gen_random_uuid|uuid_generate_v\w+|uuidv7|uuidv4)\(\)$/

function columnProperty(
  column: CatalogColumn,
  property: string,
  type: ColumnType,
  table: CatalogTable,
  { tenant }: TableContext,
): ClassProperty {
  const key = keyOf(table)
  const isKey = key.includes(column.name)
  const isOwnKey = isKey && key.filter((one) => one !== tenant).length === 1 && column.name !== tenant
  const named = column.name === property ? {} : { name: column.name }
  const comment = column.comment === null ? {} : { comment: column.comment }
  const base = {
    name: property,
    type: type.property,
    design: type.design,
    isOptional: !column.isRequired,
  }
  const decorator = (name: string, ...args: readonly Value[]): Decorator => ({ name, args })
  if (isOwnKey && isNumbered(column)) {
    const options = { type: type.type, ...named, ...comment }
    return { ...base, decorators: [decorator('PrimaryGeneratedColumn', 'increment', options)] }
  }
  if (isOwnKey && type.type === 'uuid' && MINTS_UUID.test(column.default ?? '')) {
    const options = { ...named, ...comment }
    return {
      ...base,
      decorators: [
        decorator('PrimaryGeneratedColumn', 'uuid', ...(Object.keys(options).length > 0 ? [options] : [])),
      ],
    }
  }
  const literal = literalDefault(column)
  const { enumeration } = type
  const options: Readonly<Record<string, Value>> = {
    type: type.type,
    ...named,
    ...columnSize(column),
    ...(enumeration === undefined ? {} : { enum: enumeration.labels, enumName: enumeration.plainName }),
    ...(type.isArray ? { array: true } : {}),
    ...(column.isRequired ? {} : { nullable: true }),
    ...(column.isInexact && column.collation !== null ? { collation: plainCollation(column.collation) } : {}),
    ...(literal !== undefined
      ? { default: literal }
      : column.default === null
        ? {}
        : { default: new Sql(column.default) }),
    ...comment,
  }
  if (isKey) return { ...base, decorators: [decorator('PrimaryColumn', options)] }
  const outputOnly = type.isStorable ? [decorator('OutputOnly', { generated: true })] : []
  if (column.computed !== null)
    return {
      ...base,
      decorators: [
        ...outputOnly,
        decorator('Column', { ...options, asExpression: column.computed, generatedType: 'STORED' }),
      ],
    }
  if (isNumbered(column) || isSetByTrigger(column, type, table)) {
    const { default: _, ...others } = options
    return {
      ...base,
      decorators: [
        ...outputOnly,
        decorator('Column', { ...(isNumbered(column) ? others : options), insert: false, update: false }),
      ],
    }
  }
  const { default: _, ...time } = options
  return {
    ...base,
    decorators: [decorator(...timeColumn(column), timeKind(column) === 'Column' ? options : time)],
  }
}

const timeColumn = (column: CatalogColumn): [string] => [timeKind(column)]

/** Returns TypeORM's decorator for a timestamp that TypeORM sets, or `Column`. */
function timeKind({ name, type, element, isRequired, modifier, default: sql }: CatalogColumn): string {
  if (!TIMES.has(type) || element !== null) return 'Column'
  const plain = name.toLowerCase().replaceAll('_', '')
  const isNow = isRequired && NOW.test(sql ?? '')
  if (isNow && /^(createdat|createtime|insertedat)$/.test(plain)) return 'CreateDateColumn'
  if (isNow && /^(updatedat|updatetime|modifiedat)$/.test(plain)) return 'UpdateDateColumn'
  const isKept = !isRequired && sql === null && (modifier < 0 || modifier >= MILLISECONDS)
  return isKept && /^(deletedat|deletetime)$/.test(plain) ? 'DeleteDateColumn' : 'Column'
}

const MILLISECONDS = 3

/** Returns true if only triggers set the column: a timestamp, or a value that no field can contain. */
function isSetByTrigger(column: CatalogColumn, { isStorable }: ColumnType, table: CatalogTable): boolean {
  const set = setByTriggers(table).get(column.name)
  return set !== undefined && (TIMES.has(column.type) || !isStorable) && (set.onInsert || !isNeeded(column))
}

/** Returns the name of a collation, which TypeORM quotes itself. */
const plainCollation = (collation: string): string => collation.replace(/^\w+\./, '').replaceAll('"', '')

interface Reference {
  readonly relation: string
  readonly target: string
  readonly column: ClassColumns
  readonly isRequired: boolean
  readonly onDelete: string | undefined
  readonly joins: readonly Readonly<Record<string, string>>[]
}

interface ClassColumns {
  readonly column: string
  readonly property: string
}

const ON_DELETE: Readonly<Record<string, string>> = { c: 'CASCADE', n: 'SET NULL', r: 'RESTRICT' }

/**
 * Returns a relation if a foreign key refers to the key of another table, and otherwise only the foreign key.
 */
function referenceOf(
  { columns, target, targetColumns, onDelete, isDeferrable }: CatalogConstraint,
  table: CatalogTable,
  properties: ReadonlyMap<string, string>,
  { catalog, names, tenant }: TableContext,
): Reference | { readonly foreignKey: Decorator } | Record<never, never> {
  const other = catalog.tables.find(({ id }) => id === target)
  const name = names.get(target)
  if (other === undefined || name === undefined) return {}
  const otherNames = propertyNames(columnNames(other, tenant))
  const own = columns.map((one) => properties.get(one))
  const others = targetColumns.map((one) => otherNames.get(one))
  if (own.includes(undefined) || others.includes(undefined)) return {}
  const key = keyOf(other)
  const isKey = key.length === targetColumns.length && key.every((one) => targetColumns.includes(one))
  const kept = columns.filter((one) => one !== tenant)
  const [column = ''] = kept
  const isPadded = other.columns.some((one) => key.includes(one.name) && one.type === 'bpchar')
  const isReference = isKey && kept.length === 1 && columns.length <= 2 && !isPadded && !isDeferrable
  if (!isReference)
    return {
      foreignKey: {
        name: 'ForeignKey',
        args: [new Target(name), own as readonly string[], others as readonly string[]],
      },
    }
  const isRequired = table.columns.find((one) => one.name === column)?.isRequired === true
  return {
    relation: relationName(column),
    target: name,
    column: { column, property: properties.get(column) as string },
    isRequired,
    onDelete: onDelete === 'n' && isRequired ? undefined : ON_DELETE[onDelete],
    joins: columns.map((one, at) => ({
      name: one,
      ...(columns.length > 1 ? { referencedColumnName: others[at] as string } : {}),
    })),
  }
}

/** Returns the relation's name: `customer_id` becomes `customer`. */
const relationName = (column: string): string =>
  propertyNames([column.replace(/_?(id|uuid|code|key|no|number|fk)$/i, '') || column])
    .values()
    .next().value ?? column

function relationProperty(
  { relation, target, column, isRequired, onDelete, joins }: Reference,
  taken: Set<string>,
): ClassProperty {
  const candidates = [relation, `${column.property}${target}`, `${column.property}Reference`]
  const name = candidates.find((one) => !taken.has(one)) ?? `${column.property}Target`
  taken.add(name)
  const options = {
    ...(isRequired ? { nullable: false } : {}),
    ...(onDelete === undefined ? {} : { onDelete }),
  }
  return {
    name,
    decorators: [
      {
        name: 'ManyToOne',
        args: [new Target(target), ...(Object.keys(options).length > 0 ? [options] : [])],
      },
      { name: 'JoinColumn', args: joins.length === 1 ? joins : [joins] },
    ],
    type: `Relation<${target}>`,
    design: Object,
    isOptional: true,
  }
}

function constraintDecorators(
  { constraints }: CatalogTable,
  properties: ReadonlyMap<string, string>,
): readonly Decorator[] {
  return constraints.flatMap(({ kind, name, columns, definition, isDeferrable }): Decorator[] => {
    const own = columns.map((one) => properties.get(one)).filter((one) => one !== undefined)
    if (kind === 'u')
      return own.length === columns.length && !isDeferrable ? [{ name: 'Unique', args: [name, own] }] : []
    if (kind === 'x') return [{ name: 'Exclusion', args: [name, definition.replace(/^EXCLUDE /, '')] }]
    const [, check] =
      kind === 'c' ? (/^CHECK \(([\s\S]*)\)( NO INHERIT)?( NOT VALID)?$/.exec(definition) ?? []) : []
    return check === undefined ? [] : [{ name: 'Check', args: [name, check] }]
  })
}

/** Returns the indexes that TypeORM can declare, which contain only columns. */
function indexDecorators(
  { indexes }: CatalogTable,
  properties: ReadonlyMap<string, string>,
): readonly Decorator[] {
  return indexes.flatMap(({ name, columns, isUnique, isSpecial, method, condition }): Decorator[] => {
    const own = columns.map((one) => properties.get(one)).filter((one) => one !== undefined)
    if (isSpecial || method !== 'btree' || own.length < columns.length) return []
    const options = {
      ...(isUnique ? { unique: true } : {}),
      ...(condition === null ? {} : { where: condition }),
    }
    return [{ name: 'Index', args: [name, own, ...(Object.keys(options).length > 0 ? [options] : [])] }]
  })
}

/** Returns notes on a table's triggers and on columns that need attention. */
function notesOf(table: CatalogTable, { catalog, tenant }: TableContext): readonly string[] {
  const set = [...setByTriggers(table)]
  const without = table.columns.filter(({ type }) => type === 'timestamp').map(({ name }) => name)
  return [
    ...table.triggers.map(({ name, functionName }) => {
      const columns = set.filter(([, { triggers }]) => triggers.includes(name)).map(([column]) => column)
      return `the trigger ${name} calls ${functionName}()${columns.length > 0 ? `, which sets ${columns.join(', ')}` : ''}`
    }),
    ...table.columns
      .filter((one) => timeKind(one) === 'DeleteDateColumn')
      .map(({ name }) => `a delete keeps the row and sets ${name}`),
    ...(without.length > 0
      ? [
          `${without.join(', ')}: a time without a zone is UTC; start the process with TZ=UTC, or use timestamptz`,
        ]
      : []),
    ...(tenant !== undefined && refersTo(catalog, tenant, table)
      ? [`${tenant} refers to it: if the class is shared, each caller reads the rows of all tenants`]
      : []),
    ...(table.hasPolicies ? ['its row-level security is not in the migration'] : []),
  ]
}

/** Returns true if the tenant column of another table is a foreign key to this table. */
const refersTo = ({ tables }: Catalog, tenant: string, { id }: CatalogTable): boolean =>
  tables.some(({ constraints }) =>
    constraints.some(
      ({ kind, target, columns }) => kind === 'f' && target === id && columns.join() === tenant,
    ),
  )
