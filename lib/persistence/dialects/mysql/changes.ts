import { valueText } from '../catalog/value-text.js'
import type { ChangeFile, ChangeSql, ColumnChange, Renamed } from '../catalog/change-sql.js'
import type { LiveColumn } from '../catalog/live-table.js'
import type {
  ColumnDefinition,
  ForeignKeyDefinition,
  IndexDefinition,
  TableName,
} from '../catalog/table-definition.js'
import { quoted } from '../values/quoted.js'

/**
 * With an explicit algorithm, the server rejects the statement instead of copying the table. MySQL 8 accepts
 * no LOCK clause with INSTANT, which locks only for a moment.
 */
const INSTANT = 'ALGORITHM=INSTANT'
const INPLACE = 'ALGORITHM=INPLACE, LOCK=NONE'

/** Both servers read the same file: MariaDB interprets the first comment, MySQL 8 the second. */
const COLLATED = ' CHARACTER SET utf8mb4 COLLATE /*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */'
const EXACT = ['utf8mb4_nopad_bin', 'utf8mb4_0900_bin']

const quote = (name: string): string => quoted(name, '`')
const list = (names: readonly string[]): string => names.map(quote).join(', ')
const named = ({ schema, name }: TableName): string =>
  schema === undefined ? quote(name) : `${quote(schema)}.${quote(name)}`
const alterTable = (table: TableName, ...actions: readonly string[]): string =>
  `ALTER TABLE ${named(table)}\n  ${actions.join(',\n  ')}`

/**
 * Types that cannot have a literal default on MySQL 8, and that neither server can index as a whole column.
 */
const HAS_NO_LITERAL = /^(?:(?:tiny|medium|long)?(?:text|blob)|json|geometry)$/i

/** Matches a default that is written without parentheses. */
const PLAIN_DEFAULT =
  /^(?:[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|0x[\da-f]+|(?:[bnx]|_\w+)?'(?:[^'\\]|\\[^]|'')*'|null|true|false|current_timestamp(?:\(\d*\))?(?: on update current_timestamp(?:\(\d*\))?)?)$/i

/** Writes an expression in parentheses, except the current time. */
const defaultOf = (type: string, value: string): string =>
  PLAIN_DEFAULT.test(value) && !HAS_NO_LITERAL.test(type) ? value : `(${value})`

const columnText = (column: ColumnDefinition): string => {
  const { name, type, isText } = column
  return `${quote(name)} ${type}${isText ? COLLATED : ''}${valueText(column, (value) => defaultOf(type, value))}`
}

const collated = (collation: string | undefined): string => {
  if (collation === undefined) return ''
  if (EXACT.includes(collation)) return COLLATED
  return ` CHARACTER SET ${collation.replace(/_.*$/, '')} COLLATE ${collation}`
}

const liveText = ({
  name,
  type,
  collation,
  nullable,
  fallback,
  generated,
  rest = '',
}: LiveColumn): string => {
  const typed = `${quote(name)} ${type}${collated(collation)}`
  // MariaDB accepts neither NULL nor a default for a generated column.
  if (generated !== undefined) return `${typed}${rest}`
  return `${typed}${nullable ? ' NULL' : ' NOT NULL'}${fallback === undefined ? '' : ` DEFAULT ${defaultOf(type, fallback)}`}${rest}`
}

/** Describes an existing column for MODIFY, which drops every property that it does not repeat. */
const modifiedText = (live: LiveColumn): string => {
  const generated = live.isIdentity === true ? ' AUTO_INCREMENT' : ''
  const fallback = live.fallback ?? live.ownFallback
  return liveText({ ...live, fallback, rest: `${generated}${live.rest ?? ''}` })
}

/**
 * Describes a column with the model's properties. The table's default remains unless the model has another
 * one.
 */
const changedText = ({ column, live }: Omit<ColumnChange, 'table'>): string => {
  const { type, isText, nullable, fallback, initial } = column
  const precision = /^(?:datetime|timestamp)(\(\d\))?$/.exec(type)
  const timed = (text: string) =>
    precision === null
      ? text
      : text.replace(/\bcurrent_timestamp(\(\d*\))?/gi, `CURRENT_TIMESTAMP${precision[1] ?? ''}`)
  const own = live.fallback ?? live.ownFallback
  const value = fallback ?? initial ?? (own === undefined ? undefined : timed(own))
  return modifiedText({
    ...live,
    type,
    collation: isText ? EXACT[0] : undefined,
    nullable,
    fallback: value,
    ...(live.rest === undefined ? {} : { rest: timed(live.rest) }),
  })
}

const keyText = ({ name, columns, unique, method, parser }: IndexDefinition): string =>
  `ADD ${method === undefined ? (unique ? 'UNIQUE ' : '') : `${method} `}KEY ${quote(name)} (${list(columns)})${parser === undefined ? '' : ` WITH PARSER ${parser}`}`

/**
 * Returns the statement that adds an index. A full-text or spatial index cannot be added while other sessions
 * write.
 */
const addIndex = (table: TableName, index: IndexDefinition): string =>
  alterTable(table, keyText(index), ...(index.method === undefined ? [INPLACE] : []))
const dropIndex = (table: TableName, name: string): string =>
  alterTable(table, `DROP KEY ${quote(name)}`, INPLACE)

const foreignKey = ({ name, columns, target, targetColumns }: ForeignKeyDefinition): string =>
  `ADD CONSTRAINT ${quote(name)} FOREIGN KEY (${list(columns)}) REFERENCES ${named(target)} (${list(targetColumns)}) ON DELETE NO ACTION`

const EMPTY: readonly (readonly [type: RegExp, value: string])[] = [
  [/^(varchar|.*text)/, "''"],
  [/^(tinyint|smallint|int|bigint|float|double|decimal)/, '0'],
  [/^datetime\(6\)/, 'CURRENT_TIMESTAMP(6)'],
  [/^json$/, "'{}'"],
  [/^.*blob$/, "''"],
]

/** Builds one trigger for INSERT and one for UPDATE, each in a file of its own. */
const mirrors = (
  table: TableName,
  name: string,
  { from, to }: Renamed,
): readonly (readonly [string, string, string])[] => {
  const [old, now] = [quote(from), quote(to)]
  const make = (kind: string, body: string) =>
    `CREATE TRIGGER IF NOT EXISTS ${triggerName(table, `${name}_${kind}`)} BEFORE ${kind.toUpperCase()} ON ${named(table)} FOR EACH ROW\nSET ${body}`
  const drop = (kind: string) => `DROP TRIGGER IF EXISTS ${triggerName(table, `${name}_${kind}`)}`
  return [
    [
      'insert',
      make('insert', `NEW.${now} = COALESCE(NEW.${now}, NEW.${old}),\n  NEW.${old} = NEW.${now}`),
      drop('insert'),
    ],
    [
      'update',
      make(
        'update',
        `NEW.${now} = IF(NEW.${now} <=> OLD.${now} AND (NEW.${now} IS NULL OR NOT (NEW.${old} <=> OLD.${old})), NEW.${old}, NEW.${now}),\n  NEW.${old} = NEW.${now}`,
      ),
      drop('update'),
    ],
  ]
}

const triggerName = ({ schema }: TableName, name: string): string =>
  schema === undefined ? quote(name) : `${quote(schema)}.${quote(name)}`

const COPIES =
  'InnoDB copies or reads the whole table for it, and blocks writes meanwhile: run it when traffic is low'

const modify = (what: string, { table, column, live }: ColumnChange, how: string): ChangeFile => ({
  what: `${what}_${table.name}_${column.name}`,
  up: [alterTable(table, `MODIFY ${changedText({ column, live })}${how}`)],
  down: [alterTable(table, `MODIFY ${modifiedText(live)}`)],
})

/**
 * MySQL has no constraints that can be validated later. A change that needs more than the catalog names its
 * algorithm, so that the server rejects it rather than copy the table.
 */
export const mysqlChanges: ChangeSql = {
  alter: (table, what, alterations) => [
    {
      what,
      up: [alterTable(table, ...alterations.map(({ up }) => up), INSTANT)],
      down: [alterTable(table, ...alterations.map(({ down }) => down).reverse())],
    },
  ],
  columnText,
  liveText,
  takesDefault: (type) => !HAS_NO_LITERAL.test(type),
  defaultOf,
  emptyValue: (type) => EMPTY.find(([known]) => known.test(type))?.[1],
  ownValue: (type) => {
    const length = Number(/^varchar\((\d+)\)$/.exec(type)?.[1] ?? 0)
    if (length === 0) return undefined
    return length < 36 ? `left(md5(uuid()), ${length})` : 'uuid()'
  },
  takesIndex: (type) => !HAS_NO_LITERAL.test(type),
  addIndex: (table, index) => [
    {
      what: `index_${index.name}`,
      up: [addIndex(table, index)],
      down: [dropIndex(table, index.name)],
      ...(index.method !== undefined && {
        allow: { rules: ['rebuilding-a-table', 'unrecoverable-statement'], reason: COPIES },
      }),
    },
  ],
  dropIndex: (table, { name, columns, unique }) => [
    {
      what: `drop_index_${name}`,
      up: [dropIndex(table, name)],
      down: [addIndex(table, { name, columns, unique, where: undefined })],
    },
  ],
  addsForeignKeysInUse: false,
  addForeignKey: (table, key) => [
    {
      what: `foreign_key_${key.name}`,
      up: [alterTable(table, foreignKey(key))],
      down: [alterTable(table, `DROP FOREIGN KEY ${quote(key.name)}`)],
      allow: { rules: ['adding-foreign-key-constraint', 'unrecoverable-statement'], reason: COPIES },
    },
  ],
  dropForeignKey: (table, key) => [
    {
      what: `drop_foreign_key_${key.name}`,
      up: [alterTable(table, `DROP FOREIGN KEY ${quote(key.name)}`)],
      down: [
        alterTable(
          table,
          `ADD CONSTRAINT ${quote(key.name)} FOREIGN KEY (${list(key.columns)}) REFERENCES ${key.target.split('.').map(quote).join('.')} (${list(key.targetColumns)}) ON DELETE ${key.onDelete ?? 'NO ACTION'} ON UPDATE ${key.onUpdate ?? 'NO ACTION'}`,
        ),
      ],
      allowDown: { rules: ['unrecoverable-statement'], reason: COPIES },
    },
  ],
  require: (change) => [modify('require', change, `,\n  ${INPLACE}`)],
  takeNull: (change) => [modify('optional', change, `,\n  ${INPLACE}`)],
  retype: (change) => [
    { ...modify('type', change, ''), allow: { rules: ['changing-column-type'], reason: COPIES } },
  ],
  mirror: (table, name, columns) =>
    mirrors(table, name, columns).map(([kind, make, drop]) => ({
      what: `mirror_${table.name}_${columns.to}_${kind}`,
      up: [make],
      down: [drop],
    })),
  // The down migration creates the INSERT trigger first, and the UPDATE trigger after the rows are filled.
  unmirror: (table, name, columns, realign) =>
    mirrors(table, name, columns)
      .map(([kind, make, drop], at) => ({
        what: `drop_mirror_${table.name}_${columns.to}_${kind}`,
        up: [drop],
        down: at === 0 ? [make] : [make, realign],
      }))
      .reverse(),
  // Compares bytes: a collation may treat different strings as equal, and columns of two collations cannot be
  // compared.
  differ: ({ from, to }, isText) => {
    const [old, now] = [from, to].map((name) => (isText ? `CAST(${quote(name)} AS BINARY)` : quote(name)))
    return `NOT (${old} <=> ${now})`
  },
  dropReader: () => [],
  backfill: (table, set, where) => [
    {
      what: `fill_${table.name}`,
      up: [`UPDATE ${named(table)} SET ${set}\nWHERE ${where}`],
      down: [],
      isBackfill: true,
    },
  ],
}
