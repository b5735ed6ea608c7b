import type { Syntax } from './syntax.js'

export type TokenKind = 'word' | 'quoted' | 'string' | 'number' | 'symbol' | 'comment' | 'marker'

/** A token of SQL. White space is not a token. */
export interface Token {
  readonly kind: TokenKind
  /** The token as written. */
  readonly text: string
  /** A word in upper case, a quoted name without its quotes, or another token as written. */
  readonly value: string
  readonly start: number
  readonly end: number
}

/** An unterminated construct at the end of the file. */
export interface Unterminated {
  readonly at: number
  readonly what: string
}

export interface Tokens {
  readonly tokens: readonly Token[]
  readonly unterminated: Unterminated | undefined
}

/** Splits SQL into tokens as the server does. */
export const tokenize = (sql: string, syntax: Syntax): Tokens => new Scanner(sql, syntax).all()

const SPACE = /\s+/y
const WORD = /[\p{L}_\u0080-\uffff][\p{L}\p{N}_$\u0080-\uffff]*/uy
const NUMBER = /(?:0[xX][0-9a-fA-F]+|\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y

class Scanner {
  readonly #tokens: Token[] = []
  #at = 0
  #inExecutableComment = false
  #unterminated: Unterminated | undefined

  constructor(
    private readonly sql: string,
    private readonly syntax: Syntax,
  ) {}

  all(): Tokens {
    while (this.#at < this.sql.length && this.#unterminated === undefined) this.#next()
    if (this.#inExecutableComment && this.#unterminated === undefined)
      this.#unterminated = { at: this.#at, what: 'a /*! comment' }
    return { tokens: this.#tokens, unterminated: this.#unterminated }
  }

  #next(): void {
    if (this.#skip(SPACE)) return
    if (this.#lineComment() || this.#blockComment() || this.#literal() || this.#quotedName()) return
    const word = this.#match(WORD)
    if (word !== undefined) return this.#push('word', word.length, word.toUpperCase())
    const number = this.#match(NUMBER)
    if (number !== undefined) return this.#push('number', number.length)
    this.#push('symbol', String.fromCodePoint(this.sql.codePointAt(this.#at) ?? 0).length)
  }

  #lineComment(): boolean {
    const { sql, syntax } = this
    if (this.#match(syntax.lineComment) === undefined) return false
    const newline = sql.indexOf('\n', this.#at)
    this.#push('comment', (newline < 0 ? sql.length : newline) - this.#at)
    return true
  }

  #blockComment(): boolean {
    if (this.#inExecutableComment && this.sql.startsWith('*/', this.#at)) {
      this.#inExecutableComment = false
      this.#push('marker', 2)
      return true
    }
    if (!this.sql.startsWith('/*', this.#at)) return false
    const executable = this.#match(this.syntax.executableComment)
    if (executable !== undefined) {
      this.#inExecutableComment = true
      this.#push('marker', executable.length)
      return true
    }
    const end = this.syntax.hasNestedComments ? this.#endOfNestedComment() : this.#after('*/', this.#at + 2)
    this.#pushUpTo(end, 'comment', 'a comment')
    return true
  }

  #endOfNestedComment(): number | undefined {
    const edges = /\/\*|\*\//g
    edges.lastIndex = this.#at
    let depth = 0
    for (let edge = edges.exec(this.sql); edge !== null; edge = edges.exec(this.sql)) {
      depth += edge[0] === '/*' ? 1 : -1
      if (depth === 0) return edges.lastIndex
    }
    return undefined
  }

  #literal(): boolean {
    const { sql, syntax } = this
    const prefix = this.#match(syntax.stringPrefix) ?? ''
    const opening = this.#at + prefix.length
    if (syntax.stringQuotes.includes(sql[opening] ?? '')) {
      this.#pushUpTo(this.#endOfQuoted(opening, syntax.hasBackslashes(prefix)), 'string', 'a string')
      return true
    }
    const tag = this.#match(syntax.dollarQuote)
    if (tag === undefined) return false
    this.#pushUpTo(this.#after(tag, this.#at + tag.length), 'string', `a ${tag} string`)
    return true
  }

  #quotedName(): boolean {
    const { sql, syntax } = this
    const start = this.#match(syntax.quotedName)
    if (start === undefined) return false
    const opening = this.#at + start.length - 1
    const quote = syntax.nameQuote
    const end = this.#endOfQuoted(opening, false)
    const name = sql.slice(opening + 1, (end ?? sql.length) - 1).replaceAll(quote + quote, quote)
    this.#pushUpTo(end, 'quoted', 'a quoted name', name)
    return true
  }

  /**
   * Returns the offset after the quote that matches the quote at `opening`. A doubled quote does not match
   * it.
   */
  #endOfQuoted(opening: number, backslashes: boolean): number | undefined {
    const { sql } = this
    const quote = sql[opening]
    for (let at = opening + 1; at < sql.length; at++) {
      if (backslashes && sql[at] === '\\') at++
      else if (sql[at] === quote && sql[at + 1] === quote) at++
      else if (sql[at] === quote) return at + 1
    }
    return undefined
  }

  #after(text: string, from: number): number | undefined {
    const at = this.sql.indexOf(text, from)
    return at < 0 ? undefined : at + text.length
  }

  #match(pattern: RegExp | undefined): string | undefined {
    if (pattern === undefined) return undefined
    pattern.lastIndex = this.#at
    return pattern.exec(this.sql)?.[0]
  }

  #skip(pattern: RegExp): boolean {
    const found = this.#match(pattern)
    this.#at += found?.length ?? 0
    return found !== undefined
  }

  #pushUpTo(end: number | undefined, kind: TokenKind, what: string, value?: string): void {
    if (end === undefined) this.#unterminated = { at: this.#at, what }
    this.#push(kind, (end ?? this.sql.length) - this.#at, value)
  }

  #push(kind: TokenKind, length: number, value?: string): void {
    const end = this.#at + length
    const text = this.sql.slice(this.#at, end)
    this.#tokens.push({ kind, text, value: value ?? text, start: this.#at, end })
    this.#at = end
  }
}
