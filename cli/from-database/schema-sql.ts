import type {
  Catalog,
  CatalogColumn,
  CatalogSequence,
  CatalogTable,
  CatalogType,
  Needed,
} from './database-catalog.js'

/** The SQL that creates tables in an empty database, and the SQL that drops them. */
export interface SchemaSql {
  readonly up: string
  readonly down: string
  /** Notes on foreign keys to tables that are not created. */
  readonly notes: readonly string[]
}

/**
 * Returns the DDL of tables from the catalog, with the types, sequences, functions, indexes and triggers that
 * they need.
 * @param before - tables that an earlier migration creates, with what they need.
 */
export function schemaSql(
  catalog: Catalog,
  tables: readonly CatalogTable[],
  before: readonly CatalogTable[],
): SchemaSql {
  const ids = new Set(tables.map(({ id }) => id))
  const earlier = new Set(before.map(({ id }) => id))
  const isNew = <T>(all: readonly T[], usersOf: (one: T) => readonly string[]): readonly T[] =>
    all.filter((one) => usersOf(one).some((id) => ids.has(id)) && !usersOf(one).some((id) => earlier.has(id)))
  const names = namesIn(catalog)
  const types = isNew(catalog.types, (type) => usersOfType(catalog, type))
  const sequences = isNew(
    catalog.sequences.filter(({ isIdentity }) => !isIdentity),
    ({ table, users }) => [...(table === null ? [] : [table]), ...users],
  )
  const functions = distinct(
    catalog.needed.filter((one) => one.definition !== null && ids.has(one.table)),
    ({ signature }) => signature,
  ).filter(
    ({ signature }) => !catalog.needed.some((one) => one.signature === signature && earlier.has(one.table)),
  )
  const extensions = distinct(
    catalog.needed.filter(({ extension, table }) => extension !== null && ids.has(table)),
    ({ extension }) => extension,
  )
  const schemas = new Set(
    [
      ...tables,
      ...types,
      ...sequences,
      ...functions.map(({ functionSchema }) => ({ schema: functionSchema ?? '' })),
      ...extensions.map(({ extensionSchema }) => ({ schema: extensionSchema ?? '' })),
    ]
      .map(({ schema }) => schema)
      .filter((schema) => schema !== 'public' && schema !== 'pg_catalog'),
  )
  const notes: string[] = []
  const foreignKeys = tables.flatMap((table) =>
    table.constraints
      .filter(({ kind }) => kind === 'f')
      .flatMap(({ name, target, definition }) => {
        if (ids.has(target) || earlier.has(target))
          return [`ALTER TABLE ${names.table(table)} ADD CONSTRAINT ${names.quoted(name)} ${definition};`]
        notes.push(
          `the foreign key ${name} is not in the migration, because it refers to a table that is left out`,
        )
        return []
      }),
  )
  const up = [
    [...schemas].map((schema) => `CREATE SCHEMA IF NOT EXISTS ${names.quoted(schema)};`),
    extensions.map(
      ({ extension, extensionSchema }) =>
        `CREATE EXTENSION IF NOT EXISTS ${names.quoted(extension ?? '')} SCHEMA ${names.quoted(extensionSchema ?? '')};`,
    ),
    types.map((type) => typeText(type)),
    functions.filter(({ isTrigger }) => isTrigger !== true).map(functionText),
    sequences.map(sequenceText),
    tables.map((table) => tableText(table, catalog, names)),
    partitionsOf(catalog, tables).map((table) => partitionText(table, catalog, names)),
    sequences.flatMap((sequence) => ownerText(sequence, catalog, ids, names)),
    foreignKeys,
    tables.flatMap(({ indexes }) => indexes.map(({ definition }) => `${definition};`)),
    functions.filter(({ isTrigger }) => isTrigger === true).map(functionText),
    tables.flatMap(({ triggers }) => triggers.map(({ definition }) => `${definition};`)),
    tables.flatMap((table) => commentTexts(table, names)),
  ]
  const down = [
    [`DROP TABLE ${tables.map(names.table).join(', ')};`],
    functions.map(({ signature }) => `DROP FUNCTION ${signature ?? ''};`),
    sequences
      .filter(({ table }) => table === null || !ids.has(table))
      .map(({ name }) => `DROP SEQUENCE ${name};`),
    types.toReversed().map(({ name, kind }) => `DROP ${kind === 'd' ? 'DOMAIN' : 'TYPE'} ${name};`),
    earlier.size > 0 ? [] : [...schemas].map((schema) => `DROP SCHEMA ${names.quoted(schema)};`),
  ]
  return { up: paragraphs(up), down: paragraphs(down), notes }
}

const paragraphs = (groups: readonly (readonly string[])[]): string =>
  `${groups
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`

function distinct<T>(all: readonly T[], keyOf: (one: T) => unknown): readonly T[] {
  return [...new Map(all.map((one) => [keyOf(one), one])).values()]
}

interface Names {
  readonly quoted: (name: string) => string
  readonly table: (table: Pick<CatalogTable, 'schema' | 'name'>) => string
}

function namesIn({ reserved }: Catalog): Names {
  const quoted = (name: string) =>
    /^[a-z_][a-z0-9_$]*$/.test(name) && !reserved.has(name) ? name : `"${name.replaceAll('"', '""')}"`
  return {
    quoted,
    table: ({ schema, name }) => `${schema === 'public' ? '' : `${quoted(schema)}.`}${quoted(name)}`,
  }
}

const usersOfType = ({ tables }: Catalog, { id, name, kind }: CatalogType): readonly string[] =>
  tables
    .filter(({ columns }) =>
      columns.some(({ typeId, declared }) =>
        kind === 'd' ? declared === name || declared === `${name}[]` : typeId === id,
      ),
    )
    .map((table) => table.id)

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

function typeText({ name, kind, labels, definition }: CatalogType): string {
  if (kind === 'd') return `CREATE DOMAIN ${name} AS ${definition ?? ''};`
  if (kind === 'c') return `CREATE TYPE ${name} AS (${definition ?? ''});`
  return `CREATE TYPE ${name} AS ENUM (${labels.map(literal).join(', ')});`
}

const functionText = ({ definition }: Needed): string => `${(definition ?? '').trimEnd()};`

const MAXIMA: Readonly<Record<string, string>> = {
  smallint: '32767',
  integer: '2147483647',
  bigint: '9223372036854775807',
}

/** Returns the options of a sequence that differ from the defaults. */
function sequenceOptions({
  type,
  start,
  increment,
  minimum,
  maximum,
  cache,
  isCycle,
}: CatalogSequence): string {
  const options = [
    ...(start === '1' ? [] : [`START WITH ${start}`]),
    ...(increment === '1' ? [] : [`INCREMENT BY ${increment}`]),
    ...(minimum === '1' ? [] : [`MINVALUE ${minimum}`]),
    ...(maximum === MAXIMA[type] ? [] : [`MAXVALUE ${maximum}`]),
    ...(cache === '1' ? [] : [`CACHE ${cache}`]),
    ...(isCycle ? ['CYCLE'] : []),
  ]
  return options.join(' ')
}

function sequenceText(sequence: CatalogSequence): string {
  const options = sequenceOptions(sequence)
  return `CREATE SEQUENCE ${sequence.name} AS ${sequence.type}${options === '' ? '' : ` ${options}`};`
}

function ownerText(
  { name, table, column }: CatalogSequence,
  { tables }: Catalog,
  ids: ReadonlySet<string>,
  names: Names,
): readonly string[] {
  const owner = tables.find(({ id }) => id === table && ids.has(id))
  if (owner === undefined || column === null) return []
  return [`ALTER SEQUENCE ${name} OWNED BY ${names.table(owner)}.${names.quoted(column)};`]
}

function tableText(table: CatalogTable, catalog: Catalog, names: Names): string {
  const lines = [
    ...table.columns.map((column) => columnText(column, table, catalog, names)),
    ...table.constraints
      .filter(({ kind }) => kind !== 'f')
      .toSorted((a, b) => 'pucx'.indexOf(a.kind) - 'pucx'.indexOf(b.kind))
      .map(({ name, definition }) => `CONSTRAINT ${names.quoted(name)} ${definition}`),
  ]
  const partitioning = table.partitioning === null ? '' : ` PARTITION BY ${table.partitioning}`
  return `CREATE TABLE ${names.table(table)} (\n${lines.map((line) => `  ${line}`).join(',\n')}\n)${partitioning};`
}

function columnText(
  { name, declared, collation, computed, identity, default: sql, isRequired }: CatalogColumn,
  { id }: CatalogTable,
  { sequences }: Catalog,
  names: Names,
): string {
  const own = sequences.find((one) => one.isIdentity && one.table === id && one.column === name)
  const options = own === undefined ? '' : sequenceOptions(own)
  return [
    `${names.quoted(name)} ${declared}`,
    ...(collation === null ? [] : [`COLLATE ${collation}`]),
    ...(computed === null ? [] : [`GENERATED ALWAYS AS (${computed}) STORED`]),
    ...(identity === ''
      ? []
      : [
          `GENERATED ${identity === 'a' ? 'ALWAYS' : 'BY DEFAULT'} AS IDENTITY${options === '' ? '' : ` (${options})`}`,
        ]),
    ...(sql === null ? [] : [`DEFAULT ${sql}`]),
    ...(isRequired && identity === '' ? ['NOT NULL'] : []),
  ].join(' ')
}

/** Returns the partitions of tables, each after its parent. */
function partitionsOf({ tables }: Catalog, parents: readonly CatalogTable[]): readonly CatalogTable[] {
  const found = tables.filter(
    ({ isPartition, parent }) => isPartition && parents.some(({ id }) => id === parent),
  )
  return found.length === 0 ? [] : [...found, ...partitionsOf({ tables } as Catalog, found)]
}

function partitionText(table: CatalogTable, { tables }: Catalog, names: Names): string {
  const parent = tables.find(({ id }) => id === table.parent)
  const below = table.partitioning === null ? '' : ` PARTITION BY ${table.partitioning}`
  return `CREATE TABLE ${names.table(table)} PARTITION OF ${names.table(parent as CatalogTable)} ${table.bound ?? ''}${below};`
}

function commentTexts(table: CatalogTable, names: Names): readonly string[] {
  const name = names.table(table)
  return [
    ...(table.comment === null ? [] : [`COMMENT ON TABLE ${name} IS ${literal(table.comment)};`]),
    ...table.columns.flatMap((column) =>
      column.comment === null
        ? []
        : [`COMMENT ON COLUMN ${name}.${names.quoted(column.name)} IS ${literal(column.comment)};`],
    ),
  ]
}
