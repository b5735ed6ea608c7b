import type { Repository } from '../../persistence/index.js'

/** What belongs to the database or the program, and to no caller (the specification's Errors). */
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
  [/\n\s+at .+:\d+:\d+/, 'a stack'],
  [/\bnode_modules\b|file:\/\/\//, 'a path of the program'],
  [/ECONNREFUSED|ENOTFOUND|EPIPE|ECONNRESET/, 'an address behind the server'],
]

/**
 * What in an error is not fit for a caller, in words; undefined when nothing is.
 * @param said - everything the caller gets, in which text of the database is looked for.
 * @param message - the error's own text, in which tables and columns of the repositories are looked for too.
 */
export const unfitIn = (
  said: string,
  message: string,
  repositories: readonly Pick<Repository<object>, 'model' | 'table'>[],
): string | undefined => {
  const found = UNFIT.find(([pattern]) => pattern.test(said))
  if (found !== undefined) return found[1]
  const own = message.replaceAll(GENERIC, '')
  return repositories.flatMap(namesOf).find((name) => wordIn(own, name)) === undefined
    ? undefined
    : 'the name of a table or column'
}

/** What the framework says of any resource. */
const GENERIC =
  /permission denied|not found|already exists|precondition failed|internal error|deadline exceeded/g

/** Tables as drivers write them, with their schema and prefix or without, and columns that are called differently on the wire. */
const namesOf = ({ model, table }: Pick<Repository<object>, 'model' | 'table'>): readonly string[] => {
  const onTheWire = new Set([
    ...(model.message?.fields.map(({ name }) => name) ?? []),
    ...model.entityFields.map(({ proto }) => proto),
    ...[...model.secrets, ...model.credentials].map(({ proto }) => proto),
  ])
  const tables = [model.table, ...(table === undefined ? [] : [table.name, ...inSchema(table)])]
  return [...tables, ...model.fields.map(({ column }) => column)].filter((name) => !onTheWire.has(name))
}

/** The schema alone may be an ordinary word. */
const inSchema = ({ schema, name }: NonNullable<Repository<object>['table']>): readonly string[] =>
  schema === undefined ? [] : [`${schema}.${name}`]

/** As a word of its own. What follows as `.v1` is the package of a proto file, what follows a slash a path. */
const wordIn = (text: string, name: string): boolean =>
  new RegExp(`(?<![\\w/])${name.replaceAll(/[^\w]/g, '\\$&')}(?![\\w/]|\\.v\\d|:batch)`).test(text)
