import { valueText } from '../catalog/value-text.js'
import type { ChangeFile, ChangeSql, ColumnChange, Reader, Renamed } from '../catalog/change-sql.js'
import type { LiveColumn } from '../catalog/live-table.js'
import type {
  ColumnDefinition,
  ForeignKeyDefinition,
  IndexDefinition,
  TableName,
} from '../catalog/table-definition.js'
import { quoted, textLiteral } from '../values/quoted.js'

const quote = (name: string): string => quoted(name, '"')
const list = (names: readonly string[]): string => names.map(quote).join(', ')

const inSchema = ({ schema }: TableName, name: string): string =>
  schema === undefined ? quote(name) : `${quote(schema)}.${quote(name)}`

const alterTable = (table: TableName, ...actions: readonly string[]): string =>
  `ALTER TABLE ${inSchema(table, table.name)}\n  ${actions.join(',\n  ')}`

const columnText = (column: ColumnDefinition): string =>
  `${quote(column.name)} ${column.type}${column.isText ? ' COLLATE "C"' : ''}${valueText(column)}`

const typeText = ({ type, collation }: LiveColumn): string =>
  collation === undefined || collation === 'default' ? type : `${type} COLLATE ${quote(collation)}`

const liveText = (live: LiveColumn): string =>
  `${quote(live.name)} ${typeText(live)}${live.nullable ? '' : ' NOT NULL'}${live.fallback === undefined ? '' : ` DEFAULT ${live.fallback}`}`

const createIndex = (table: TableName, { name, columns, unique, where, method }: IndexDefinition): string =>
  `CREATE ${unique ? 'UNIQUE ' : ''}INDEX CONCURRENTLY ${quote(name)} ON ${inSchema(table, table.name)} ${method === undefined ? '' : `USING ${method} `}(${list(columns)})${where === undefined ? '' : ` WHERE ${where}`}`

const dropIndex = (table: TableName, name: string): string =>
  `DROP INDEX CONCURRENTLY ${inSchema(table, name)}`

const foreignKey = ({ name, columns, target, targetColumns }: ForeignKeyDefinition): string =>
  `ADD CONSTRAINT ${quote(name)} FOREIGN KEY (${list(columns)}) REFERENCES ${inSchema(target, target.name)} (${list(targetColumns)}) ON DELETE NO ACTION NOT VALID`

const alterColumn = ({ column }: ColumnChange, change: string): string =>
  `ALTER COLUMN ${quote(column.name)} ${change}`

/**
 * Converts a column's type. Conversions to strings need no cast, and an explicit cast to a shorter string
 * would truncate values.
 */
const typeChange = (name: string, type: string): string => {
  const bare = type.replace(/ COLLATE .*$/, '')
  const using = /^(?:text|varchar|character varying)\b/.test(bare) ? '' : ` USING ${quote(name)}::${bare}`
  return `ALTER COLUMN ${quote(name)} TYPE ${type}${using}`
}

const wantedType = ({ type, isText }: ColumnDefinition): string => `${type}${isText ? ' COLLATE "C"' : ''}`

const EMPTY: readonly (readonly [type: RegExp, value: string])[] = [
  [/\[\]$/, "'{}'"],
  [/^(text|character varying)/, "''"],
  [/^(smallint|integer|bigint|numeric|real|double precision)/, '0'],
  [/^boolean/, 'FALSE'],
  [/^timestamp/, 'now()'],
  [/^jsonb?$/, "'{}'"],
  [/^bytea/, "'\\x'"],
]

const mirrorFunction = (table: TableName, name: string, { from, to }: Renamed): string => {
  const [old, now] = [quote(from), quote(to)]
  return `CREATE OR REPLACE FUNCTION ${inSchema(table, name)}() RETURNS trigger LANGUAGE plpgsql AS $mirror$
BEGIN
  IF TG_OP = 'INSERT' THEN
    NEW.${now} := COALESCE(NEW.${now}, NEW.${old});
    NEW.${old} := NEW.${now};
  ELSIF NEW.${now} IS DISTINCT FROM OLD.${now} THEN
    NEW.${old} := NEW.${now};
  ELSIF NEW.${old} IS DISTINCT FROM OLD.${old} OR NEW.${now} IS NULL THEN
    NEW.${now} := NEW.${old};
  END IF;
  RETURN NEW;
END
$mirror$`
}

const makeMirror = (table: TableName, name: string, columns: Renamed): readonly string[] => [
  mirrorFunction(table, name, columns),
  `CREATE TRIGGER ${quote(name)} BEFORE INSERT OR UPDATE ON ${inSchema(table, table.name)} FOR EACH ROW EXECUTE FUNCTION ${inSchema(table, name)}()`,
]

const endMirror = (table: TableName, name: string): readonly string[] => [
  `DROP TRIGGER ${quote(name)} ON ${inSchema(table, table.name)}`,
  `DROP FUNCTION ${inSchema(table, name)}()`,
]

const dropReader = (table: TableName, { generated, reads }: Reader): string => {
  const { schema, name } = table
  return `DO $reader$
BEGIN
  IF EXISTS (
    SELECT FROM information_schema.column_column_usage
    WHERE table_schema = ${schema === undefined ? 'current_schema()' : textLiteral(schema)} AND table_name = ${textLiteral(name)}
      AND column_name = ${textLiteral(reads)} AND dependent_column = ${textLiteral(generated)}
  ) THEN
    ALTER TABLE ${inSchema(table, name)} DROP COLUMN ${quote(generated)};
  END IF;
END
$reader$`
}

/**
 * Most catalog changes hold their lock only for a moment. Work that reads every row is moved to a statement
 * without the lock.
 */
export const postgresChanges: ChangeSql = {
  alter: (table, what, alterations) => [
    {
      what,
      up: [alterTable(table, ...alterations.map(({ up }) => up))],
      down: [alterTable(table, ...alterations.map(({ down }) => down).reverse())],
    },
  ],
  columnText,
  liveText,
  takesDefault: () => true,
  defaultOf: (_type, value) => value,
  emptyValue: (type) => EMPTY.find(([known]) => known.test(type))?.[1],
  ownValue: (type) => {
    const length = Number(
      /^character varying\((\d+)\)$/.exec(type)?.[1] ?? (/^(text|character varying)$/.test(type) ? 36 : 0),
    )
    if (length === 0) return undefined
    return length < 36 ? `left(md5(gen_random_uuid()::text), ${length})` : 'gen_random_uuid()::text'
  },
  takesIndex: () => true,
  addIndex: (table, index) => [
    { what: `index_${index.name}`, up: [createIndex(table, index)], down: [dropIndex(table, index.name)] },
  ],
  dropIndex: (table, index) => {
    const { name, columns, unique, where, isConstraint } = index
    const what = `drop_index_${name}`
    if (isConstraint)
      return [
        {
          what,
          up: [alterTable(table, `DROP CONSTRAINT ${quote(name)}`)],
          down: [alterTable(table, `ADD CONSTRAINT ${quote(name)} UNIQUE (${list(columns)})`)],
        },
      ]
    return [
      { what, up: [dropIndex(table, name)], down: [createIndex(table, { name, columns, unique, where })] },
    ]
  },
  addsForeignKeysInUse: true,
  addForeignKey: (table, key) => [
    {
      what: `foreign_key_${key.name}`,
      up: [alterTable(table, foreignKey(key))],
      down: [alterTable(table, `DROP CONSTRAINT ${quote(key.name)}`)],
    },
    validated(table, key.name),
  ],
  dropForeignKey: (table, key) => [
    {
      what: `drop_foreign_key_${key.name}`,
      up: [alterTable(table, `DROP CONSTRAINT ${quote(key.name)}`)],
      down: [
        alterTable(
          table,
          `ADD CONSTRAINT ${quote(key.name)} FOREIGN KEY (${list(key.columns)}) REFERENCES ${targetText(key.target)} (${list(key.targetColumns)}) ON DELETE ${key.onDelete ?? 'NO ACTION'} ON UPDATE ${key.onUpdate ?? 'NO ACTION'} NOT VALID`,
        ),
        ...(key.isUnchecked === true ? [] : [alterTable(table, `VALIDATE CONSTRAINT ${quote(key.name)}`)]),
      ],
    },
  ],
  require: (change, name) => {
    const { table, column } = change
    const drop = `DROP CONSTRAINT ${quote(name)}`
    return [
      {
        what: `check_${name}`,
        up: [
          alterTable(
            table,
            `ADD CONSTRAINT ${quote(name)} CHECK (${quote(column.name)} IS NOT NULL) NOT VALID`,
          ),
        ],
        down: [alterTable(table, drop)],
      },
      {
        what: `require_${table.name}_${column.name}`,
        up: [
          alterTable(table, `VALIDATE CONSTRAINT ${quote(name)}`),
          // Use two statements. In one, PostgreSQL would drop the constraint first and then read every row.
          alterTable(table, alterColumn(change, 'SET NOT NULL')),
          alterTable(table, drop),
        ],
        down: [
          alterTable(
            table,
            `ADD CONSTRAINT ${quote(name)} CHECK (${quote(column.name)} IS NOT NULL) NOT VALID`,
            alterColumn(change, 'DROP NOT NULL'),
          ),
        ],
      },
    ]
  },
  takeNull: (change) => [
    {
      what: `optional_${change.table.name}_${change.column.name}`,
      up: [alterTable(change.table, alterColumn(change, 'DROP NOT NULL'))],
      down: [alterTable(change.table, alterColumn(change, 'SET NOT NULL'))],
      allow: {
        rules: ['ban-drop-not-null'],
        reason: 'every running image handles NULL there',
      },
    },
  ],
  retype: ({ table, column, live }) => [
    {
      what: `type_${table.name}_${column.name}`,
      up: [alterTable(table, typeChange(column.name, wantedType(column)))],
      down: [alterTable(table, typeChange(column.name, typeText(live)))],
      allow: {
        rules: ['changing-column-type', 'prefer-bigint-over-int'],
        reason: 'every running image expects the new type; the table may be rewritten under a lock',
      },
    },
  ],
  mirror: (table, name, columns) => [
    {
      what: `mirror_${table.name}_${columns.to}`,
      up: makeMirror(table, name, columns),
      down: endMirror(table, name),
    },
  ],
  unmirror: (table, name, columns, realign) => [
    {
      what: `drop_mirror_${table.name}_${columns.to}`,
      up: endMirror(table, name),
      down: [...makeMirror(table, name, columns), realign],
    },
  ],
  // PostgreSQL only compares strings of different collations if the comparison names a collation.
  differ: ({ from, to }, isText) =>
    `${quote(from)} IS DISTINCT FROM ${quote(to)}${isText ? ' COLLATE "C"' : ''}`,
  dropReader: (table, reader) => [dropReader(table, reader)],
  backfill: (table, set, where) => [
    {
      what: `fill_${table.name}`,
      up: [`UPDATE ${inSchema(table, table.name)} SET ${set}\nWHERE ${where}`],
      down: [],
      isBackfill: true,
    },
  ],
}

const validated = (table: TableName, name: string): ChangeFile => ({
  what: `validate_${name}`,
  up: [alterTable(table, `VALIDATE CONSTRAINT ${quote(name)}`)],
  down: [],
})

/** Quotes a table name of the catalog, which contains a dot if it has a schema. */
const targetText = (target: string): string => target.split('.').map(quote).join('.')
