import { isComputedForEachRow } from '../lint/rules/rewrites.js'
import { Cursor, hasWords, indexOfWords, isWord, nameOf } from '../sql/cursor.js'
import type { Statement } from '../sql/split-statements.js'
import { addedColumns, alteredColumn, alterTable, type Column, createTable } from '../sql/statement-shape.js'
import type { Token } from '../sql/tokenize.js'
import { postgresSyntax } from './sql/syntax.js'

type Tokens = readonly Token[]

/** A column type as a statement writes it. */
interface Type {
  /** The type's canonical name, such as `varchar`. */
  readonly name: string
  /** The length, or the precision and scale. */
  readonly limits: readonly number[]
  readonly isArray: boolean
}

interface Domain {
  readonly base: Type
  readonly isConstrained: boolean
  /** The column's type, default and constraints. */
  readonly definition: Tokens
}

/** The types of columns and domains after a series of statements. */
export class ColumnTypes {
  readonly #columns = new Map<string, Type>()
  readonly #domains = new Map<string, Domain>()

  constructor(statements: readonly Statement[]) {
    for (const statement of statements) this.#read(statement)
  }

  /** Returns true if ADD COLUMN writes every row. */
  isWrittenAtOnce(column: Column): boolean {
    if (isComputedForEachRow(column)) return true
    const { name, isArray } = typeIn(column.definition)
    const domain = isArray ? undefined : this.#domains.get(name)
    if (domain === undefined) return false
    const hasDefault = hasWords(column.definition, 'DEFAULT')
    return (
      domain.isConstrained || (!hasDefault && isComputedForEachRow({ name, definition: domain.definition }))
    )
  }

  /**
   * Returns true if ALTER COLUMN ... TYPE writes every row. PostgreSQL only changes the catalog if the new
   * type accepts every stored value unchanged.
   *
   * @param type - the tokens after the word TYPE.
   */
  isRewrittenAs(table: string, column: string, type: Tokens): boolean {
    const [from, to] = [this.#columns.get(keyOf(table, column)), typeIn(type)]
    if (from === undefined || this.#isConstrained(to)) return true
    const using = indexOfWords(type, 'USING')
    if (using >= 0 && !isPlain(type.slice(using + 1), column, to)) return true
    // The maximum length of a domain's values is not checked.
    const base = this.#baseOf(from)
    return (base !== from && to.limits.length > 0) || !takesAsIs(base, this.#baseOf(to))
  }

  #isConstrained({ name, isArray }: Type): boolean {
    return !isArray && this.#domains.get(name)?.isConstrained === true
  }

  #baseOf(type: Type): Type {
    return (type.isArray ? undefined : this.#domains.get(type.name)?.base) ?? type
  }

  #read(statement: Statement): void {
    const created = createTable(statement)
    for (const column of created?.columns ?? [])
      this.#columns.set(keyOf(created?.table ?? '', column.name), typeIn(column.definition))
    const { table, actions } = alterTable(statement) ?? { table: '', actions: [] }
    for (const action of actions) this.#readAction(table, action)
    this.#readDomain(new Cursor(statement.tokens))
  }

  #readAction(table: string, action: Tokens): void {
    for (const { name, definition } of addedColumns(action, postgresSyntax))
      this.#columns.set(keyOf(table, name), typeIn(definition))
    const { name = '', change = [] } = alteredColumn(action) ?? {}
    const cursor = new Cursor(change)
    cursor.take('SET', 'DATA')
    if (cursor.take('TYPE')) this.#columns.set(keyOf(table, name), typeIn(cursor.rest))
    const rename = new Cursor(action)
    if (!rename.take('RENAME')) return
    rename.take('COLUMN')
    const known = this.#columns.get(keyOf(table, rename.name() ?? ''))
    if (known !== undefined && rename.take('TO')) this.#columns.set(keyOf(table, rename.name() ?? ''), known)
  }

  #readDomain(cursor: Cursor): void {
    const isNew = cursor.take('CREATE', 'DOMAIN')
    if (!isNew && !cursor.take('ALTER', 'DOMAIN')) return
    const name = cursor.path()?.at(-1) ?? ''
    cursor.take('AS')
    const definition = cursor.rest
    const known = this.#domains.get(name)
    const constrains = hasWords(definition, 'CHECK') || hasWords(definition, 'NOT', 'NULL')
    if (isNew) {
      const type = typeIn(definition)
      const isConstrained = constrains || this.#isConstrained(type)
      this.#domains.set(name, { base: this.#baseOf(type), isConstrained, definition })
    } else if (known !== undefined && !cursor.sees('DROP') && constrains)
      this.#domains.set(name, { ...known, isConstrained: true })
  }
}

const keyOf = (table: string, column: string): string => JSON.stringify([table, column])

/** The words that can follow a column's type. */
const AFTER_TYPE = [
  'COLLATE',
  'USING',
  'DEFAULT',
  'NOT',
  'NULL',
  'CONSTRAINT',
  'CHECK',
  'UNIQUE',
  'PRIMARY',
  'REFERENCES',
  'GENERATED',
  'STORAGE',
  'COMPRESSION',
]

const NAMES: Readonly<Record<string, string>> = {
  'character varying': 'varchar',
  'char varying': 'varchar',
  'national character varying': 'varchar',
  character: 'bpchar',
  char: 'bpchar',
  'national character': 'bpchar',
  nchar: 'bpchar',
  int: 'integer',
  int4: 'integer',
  int8: 'bigint',
  int2: 'smallint',
  decimal: 'numeric',
  dec: 'numeric',
  bool: 'boolean',
  float8: 'double precision',
  float4: 'real',
  'bit varying': 'varbit',
  'timestamp without time zone': 'timestamp',
  'timestamp with time zone': 'timestamptz',
  'time without time zone': 'time',
  'time with time zone': 'timetz',
}

/** Types whose default length is one character or bit. */
const OF_ONE = ['character', 'char', 'national character', 'nchar', 'bit']

function typeIn(tokens: Tokens): Type {
  const end = tokens.findIndex((token) => AFTER_TYPE.some((word) => isWord(token, word)))
  const all = end < 0 ? tokens : tokens.slice(0, end)
  const dot = all.findIndex((token) => isWord(token, '.'))
  const own = all.slice(dot + 1)
  const brackets = own.findIndex((token) => isWord(token, '[') || isWord(token, 'ARRAY'))
  const scalar = brackets < 0 ? own : own.slice(0, brackets)
  const opening = scalar.findIndex((token) => isWord(token, '('))
  const inside = opening < 0 ? [] : (new Cursor(scalar.slice(opening)).inParentheses() ?? [])
  const rest =
    opening < 0 ? scalar : [...scalar.slice(0, opening), ...scalar.slice(opening + inside.length + 2)]
  const written = rest.map(nameOf).join(' ')
  const isQuotedChar = written === 'char' && rest[0]?.kind === 'quoted'
  const limits = inside.filter(({ kind }) => kind === 'number').map(({ text }) => Number(text))
  return {
    name: isQuotedChar ? '"char"' : (NAMES[written] ?? written),
    limits: limits.length === 0 && !isQuotedChar && OF_ONE.includes(written) ? [1] : limits,
    isArray: brackets >= 0,
  }
}

/** Returns true if USING names the column itself, or casts it to its new type. */
function isPlain(expression: Tokens, column: string, to: Type): boolean {
  const cursor = new Cursor(expression)
  const isCast = cursor.take('CAST')
  const inside = cursor.inParentheses()
  if (inside !== undefined && !isCast) return cursor.rest.length === 0 && isPlain(inside, column, to)
  const cast = new Cursor(inside ?? expression)
  if (cast.name() !== column) return false
  if (cast.rest.length === 0) return true
  if (!cast.take('AS') && !cast.take(':', ':')) return false
  const { name, limits, isArray } = typeIn(cast.rest)
  return name === to.name && isArray === to.isArray && String(limits) === String(to.limits)
}

/** The types that accept the stored values of a type unchanged. */
const COERCIBLE: Readonly<Record<string, readonly string[]>> = {
  varchar: ['text', 'bpchar', 'citext'],
  text: ['varchar', 'bpchar', 'citext'],
  citext: ['text', 'varchar', 'bpchar'],
  xml: ['text', 'varchar', 'bpchar'],
  cidr: ['inet'],
  bit: ['varbit'],
  varbit: ['bit'],
  integer: ['oid', 'regclass', 'regproc', 'regtype', 'regrole', 'regnamespace'],
  oid: ['integer', 'regclass', 'regproc', 'regtype', 'regrole', 'regnamespace'],
  regclass: ['oid', 'integer'],
  regproc: ['oid', 'integer'],
  regtype: ['oid', 'integer'],
  regrole: ['oid', 'integer'],
  regnamespace: ['oid', 'integer'],
}

const PRECISE = ['timestamp', 'timestamptz', 'time', 'timetz', 'interval']
const MAX_PRECISE = 6

function takesAsIs(from: Type, to: Type): boolean {
  if (from.isArray !== to.isArray) return false
  const isSame = from.name === to.name
  if (!isSame && (from.isArray || COERCIBLE[from.name]?.includes(to.name) !== true)) return false
  if (to.limits.length === 0) return true
  if (!isSame) return false
  if (String(from.limits) === String(to.limits)) return true
  if (from.isArray) return false
  const [size = Number.POSITIVE_INFINITY, scale = 0] = from.limits
  const [newSize = 0, newScale = 0] = to.limits
  if (PRECISE.includes(to.name)) return Math.min(size, MAX_PRECISE) <= newSize
  return ['varchar', 'varbit', 'numeric'].includes(to.name) && size <= newSize && scale === newScale
}
