import type { Syntax } from './syntax.js'
import { type Token, tokenize } from './tokenize.js'

/** One statement of a file, as sent to the server. */
export interface Statement {
  /** The statement without the closing semicolon and leading comments. */
  readonly text: string
  /** The line on which it starts, counted from 1. */
  readonly line: number
  readonly syntax: Syntax
  /** The tokens without comments. */
  readonly tokens: readonly Token[]
}

/** A file as statements. */
export interface Script {
  readonly statements: readonly Statement[]
  readonly comments: readonly string[]
  /** The reason why the rest of the file cannot be read, such as an unterminated string. */
  readonly problem: { readonly line: number; readonly text: string } | undefined
}

/**
 * Splits a file at its semicolons, except those in literals, in the bodies of routines, and in parentheses if
 * the engine has statements there.
 */
export function splitStatements(sql: string, syntax: Syntax): Script {
  const { tokens, unterminated } = tokenize(sql, syntax)
  const lineAt = lineNumbers(sql)
  const statements: Statement[] = []
  let current: Token[] = []
  let body = new Body(syntax)
  const end = () => {
    const [first] = current
    const last = current.at(-1)
    const significant = current.filter(({ kind }) => kind !== 'marker')
    if (first !== undefined && last !== undefined && significant.length > 0)
      statements.push({
        text: sql.slice(first.start, last.end),
        line: lineAt(first.start),
        syntax,
        tokens: significant,
      })
    current = []
    body = new Body(syntax)
  }
  for (const token of tokens) {
    if (token.kind === 'comment') continue
    if (token.value === ';' && token.kind === 'symbol' && !body.isOpen) {
      end()
      continue
    }
    current.push(token)
    if (token.kind !== 'marker') body.read(token)
  }
  const opened = body.isOpen ? current[0] : undefined
  end()
  const problem =
    unterminated === undefined
      ? opened && { line: lineAt(opened.start), text: 'BEGIN, CASE or a parenthesis has no end' }
      : { line: lineAt(unterminated.at), text: `${unterminated.what} has no end` }
  return {
    statements,
    comments: tokens.filter(({ kind }) => kind === 'comment').map(({ text }) => text),
    problem,
  }
}

/**
 * Returns the beginning of a statement on one line, as written in its file. Literals and comments are
 * omitted, because literals may contain data.
 */
export function summaryOf({ text, syntax }: Statement, longest = 72): string {
  // Include the comment marks around SQL that only some servers execute. Each token has at least one
  // character.
  const shown = tokenize(text, syntax)
    .tokens.filter(({ kind }) => kind !== 'comment')
    .slice(0, longest + 1)
  const line = shown.map((token, at) => `${spaceBetween(shown[at - 1], token)}${shownText(token)}`).join('')
  return line.length <= longest ? line : `${line.slice(0, longest - 1)}…`
}

const shownText = ({ kind, text }: Token): string => (kind === 'string' ? "'…'" : text)

/**
 * Returns no space if the file has none, and none at the parentheses and commas of a list over several lines.
 */
function spaceBetween(before: Token | undefined, { start, text }: Token): string {
  if (before === undefined || before.end === start) return ''
  return before.text === '(' || text === ')' || text === ',' ? '' : ' '
}

/** Objects whose CREATE statement has no body, whichever words follow. */
const BODILESS = ['TABLE', 'VIEW', 'INDEX', 'USER', 'ROLE', 'DATABASE', 'SCHEMA', 'SEQUENCE', 'TYPE', 'RULE']
const ENDS_WITHOUT_CLOSING = ['IF', 'LOOP', 'WHILE', 'REPEAT', 'FOR']

/** Counts the open blocks of a statement, so that a semicolon inside does not end it. */
class Body {
  #made: string | undefined
  #words = 0
  #blocks = 0
  #parentheses = 0
  #previous: Token | undefined

  constructor(private readonly syntax: Syntax) {}

  get isOpen(): boolean {
    return this.#blocks > 0 || this.#parentheses > 0
  }

  read(token: Token): void {
    if (token.kind === 'word') this.#word(token.value)
    if (token.kind === 'symbol' && this.syntax.hasStatementsInParentheses) {
      if (token.value === '(') this.#parentheses++
      if (token.value === ')' && this.#parentheses > 0) this.#parentheses--
    }
    this.#previous = token
  }

  #word(word: string): void {
    const { routines, opensBlock, hasCompoundStatements } = this.syntax
    this.#words++
    if (this.#words === 1) this.#made = word === 'CREATE' || word === 'ALTER' ? '' : undefined
    if (this.#made === '' && [...routines, ...BODILESS].includes(word)) this.#made = word
    const compound = this.#words === 3 && word === 'ATOMIC' && this.#previous?.value === 'NOT'
    if (compound && hasCompoundStatements) {
      this.#made = 'PROCEDURE'
      this.#blocks = 1
      return
    }
    if (!routines.includes(this.#made ?? '') || this.#previous?.value === '.') return
    const previous = this.#previous?.kind === 'word' ? this.#previous.value : ''
    if (opensBlock(word, previous)) this.#blocks++
    else if (word === 'CASE' && this.#blocks > 0 && previous !== 'END') this.#blocks++
    else if (word === 'END' && this.#blocks > 0) this.#blocks--
    else if (previous === 'END' && ENDS_WITHOUT_CLOSING.includes(word) && hasCompoundStatements)
      this.#blocks++
  }
}

/**
 * Returns a function that returns the line of an offset, counted from 1. Offsets must be passed in ascending
 * order.
 */
function lineNumbers(sql: string): (at: number) => number {
  let line = 1
  let from = 0
  return (at) => {
    for (
      let newline = sql.indexOf('\n', from);
      newline >= 0 && newline < at;
      newline = sql.indexOf('\n', from)
    ) {
      line++
      from = newline + 1
    }
    return line
  }
}
