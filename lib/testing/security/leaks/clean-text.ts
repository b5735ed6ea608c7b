import type { Repository } from '../../../persistence/index.js'

/** Text of databases or programs that must not reach a caller. */
const UNFIT: readonly (readonly [RegExp, string])[] = [
  [/constraint failed/i, 'the text of a constraint'],
  [/duplicate (key|entry)/i, 'the text of a constraint'],
  [/violates [\w -]*constraint/i, 'the text of a constraint'],
  [/SQLSTATE/i, 'an SQLSTATE'],
  [/\b(SQLITE|ER|ERR)_[A-Z][A-Z_]+\b/, 'an error code of a driver'],
  [/QueryFailedError|EntityNotFoundError|EntityPropertyNotFound/, "an error of TypeORM's"],
  [/syntax error at or near|: syntax error|in your SQL syntax/i, "the database's syntax error"],
  [/\b(SELECT\b[^]*\bFROM|INSERT\s+INTO|DELETE\s+FROM|UPDATE\b[^]*\bSET)\b/i, 'an SQL statement'],
  [/(relation|table|column) ["'`][^"'`]*["'`] (does not|doesn't) exist/i, 'the name of a table or column'],
  [/no such (table|column)|unknown column/i, 'the name of a table or column'],
  [
    /invalid input syntax for|value too long for type|out of range for type/i,
    "the database's text on a value",
  ],
  // In the body of an HTTP error, a line break is written as two characters.
  [/(?:\n|\\n)\s+at .+:\d+:\d+/, 'a stack'],
  [/\bat (?:async )?[\w$.<>[\] ]+ \((?:[^()\n]*:\d+:\d+|native|<anonymous>)\)/, 'a stack'],
  [/\bnode_modules\b|\bfile:\/\/|\bnode:internal\//, 'a path of the program'],
  // The name of a system folder does not occur at the start of a route or resource name.
  [
    /(?<![\w/.])\/(?:home|root|usr|var|etc|opt|tmp|srv|proc|sys|dev|mnt|run|Users|private|Library|Applications|Volumes)\/[\w.@-]/,
    'an absolute path',
  ],
  [
    /(?<![\w/.])\/(?!v\d)(?:[\w.@-]+\/)+[\w.@-]+\.(?:[cm]?[jt]sx?|node|sql|pem|key|crt|env|so|wasm)\b(?::\d+)?/,
    'an absolute path',
  ],
  [/(?<![\w])[A-Za-z]:(?:\\{1,2}|\/(?!\/))[\w.$@-]+(?:\\{1,2}|\/)/, 'an absolute path'],
  [/(?<![\w\\])\\{2,4}(?!u[\da-f]{4})[\w.-]+\\{1,2}[\w$.-]+\\/, 'an absolute path'],
  [/ECONNREFUSED|ENOTFOUND|EPIPE|ECONNRESET/, 'an address behind the server'],
]

/**
 * Returns a description of the part of an error that must not reach a caller; undefined if there is none.
 * @param said - everything that the caller receives; it is searched for database text.
 * @param message - the error's own message; it is also searched for tables and columns of the repositories.
 * @param asked - names of request fields, which the caller knows.
 */
export const unfitIn = (
  said: string,
  message: string,
  repositories: readonly Pick<Repository<object>, 'model' | 'table'>[],
  asked: readonly string[] = [],
): string | undefined => {
  const found = UNFIT.find(([pattern]) => pattern.test(said))
  if (found !== undefined) return found[1]
  const own = textsIn(message).replaceAll(GENERIC, '')
  const isSaid = ({ name, isWord }: TableOrColumn) =>
    !asked.includes(name) && (isWord ? quotedIn(own, name) : wordIn(own, name))
  return repositories.flatMap(namesOf).find(isSaid) === undefined
    ? undefined
    : 'the name of a table or column'
}

/**
 * Returns the string values in the body of an HTTP error, in quotes, or the message. Member names of the body
 * such as `code` and `message` are not column names.
 */
function textsIn(message: string): string {
  if (!message.startsWith('{')) return message
  const texts: string[] = []
  try {
    JSON.parse(message, (_, value: unknown) => void (typeof value === 'string' && texts.push(`"${value}"`)))
  } catch {
    return message
  }
  return texts.join('\n')
}

interface TableOrColumn {
  readonly name: string
  /** True if the name may occur in a sentence with another meaning. */
  readonly isWord: boolean
}

/** Matches a column name that is an ordinary word, such as `state` or `key`. */
const ORDINARY = /^[a-z]+$/

/** Matches words that the framework uses in messages for every resource. */
const GENERIC =
  /permission denied|not found|already exists|precondition failed|internal error|deadline exceeded/g

/**
 * Returns the tables as drivers write them, with and without schema and prefix, and the columns whose proto
 * name differs.
 */
const namesOf = ({ model, table }: Pick<Repository<object>, 'model' | 'table'>): readonly TableOrColumn[] => {
  const onTheWire = new Set([
    ...(model.message?.fields.map(({ name }) => name) ?? []),
    ...model.entityFields.map(({ proto }) => proto),
    ...[...model.secrets, ...model.credentials].map(({ proto }) => proto),
  ])
  const tables = [model.table, ...(table === undefined ? [] : [table.name, ...inSchema(table)])]
  const columns = [...model.fields, ...model.internal().columns].map(({ column }) => column)
  return [
    ...tables.map((name) => ({ name, isWord: false })),
    ...columns.map((name) => ({ name, isWord: ORDINARY.test(name) })),
  ].filter(({ name }) => !onTheWire.has(name))
}

/** Returns the table with its schema. The schema's name alone may be an ordinary word. */
const inSchema = ({ schema, name }: NonNullable<Repository<object>['table']>): readonly string[] =>
  schema === undefined ? [] : [`${schema}.${name}`]

/** Returns true if the text contains the name in quotes, as in databases' messages. */
const quotedIn = (text: string, name: string): boolean =>
  ['"', "'", '`'].some((mark) => text.includes(`${mark}${name}${mark}`))

/**
 * Returns true if the text contains the name as a whole word. `.v1` after it denotes a proto package, and a
 * slash a path.
 */
const wordIn = (text: string, name: string): boolean =>
  new RegExp(`(?<![\\w/])${name.replaceAll(/[^\w]/g, '\\$&')}(?![\\w/]|\\.v\\d|:batch)`).test(text)
