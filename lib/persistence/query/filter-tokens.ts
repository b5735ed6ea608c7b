import { InvalidArgument } from '../../errors.js'
import { JSON_ESCAPES } from '../../text/json-escapes.js'

/** The kind of a token. A word is unquoted and begins like a name. A number begins with a digit. */
export type TokenKind = 'word' | 'number' | 'string' | 'op' | '(' | ')' | '.' | ',' | '-' | '*' | 'end'

/** The maximum length of a filter in characters. */
export const MAX_FILTER_LENGTH = 4096

/** Reads a filter token by token. The current token is in `kind`, `text` and `start`. */
export class FilterTokens {
  kind: TokenKind = 'end'
  /** The value of a string, or the token as written. */
  text = ''
  /** The position of the token in UTF-16 units. */
  start = 0
  #end = 0

  /**
   * @param bounded - false for filters of server code, which may have any length and contain strings that
   *   no column can hold.
   */
  constructor(
    readonly source: string,
    private readonly bounded = true,
  ) {
    if (bounded) this.#checkLength(source)
    this.next()
  }

  #checkLength(source: string): void {
    // A character has at most two units, so extremely long filters are rejected without counting characters.
    const isSure = source.length > MAX_FILTER_LENGTH * 2
    if (isSure || (source.length > MAX_FILTER_LENGTH && characters(source) > MAX_FILTER_LENGTH))
      this.fail(`longer than ${MAX_FILTER_LENGTH} characters`, indexOfCharacter(source, MAX_FILTER_LENGTH))
  }

  is(kind: TokenKind): boolean {
    return this.kind === kind
  }

  /**
   * Returns true if the current token is the keyword, in upper or lower case. Before a comparison or a dot it
   * is the name of a field.
   */
  isKeyword(upper: 'AND' | 'OR' | 'NOT'): boolean {
    const { text } = this
    if (this.kind !== 'word' || text.length !== upper.length) return false
    return (text === upper || text.toUpperCase() === upper) && !this.#isCompared()
  }

  /** Returns true if a comparison or a dot follows, which cannot follow a keyword. */
  #isCompared(): boolean {
    let at = this.#end
    while (classOf(this.source.charCodeAt(at)) === SPACE) at++
    return COMPARED.has(this.source.charCodeAt(at))
  }

  /** The current token, for messages. */
  get found(): string {
    return this.kind === 'end' ? 'the end' : quoted(this.text)
  }

  /** Moves on to the next token. */
  next(): void {
    const { source } = this
    let at = this.#end
    while (classOf(source.charCodeAt(at)) === SPACE) at++
    this.start = at
    if (at >= source.length) return this.#take('end', at)

    const code = source.charCodeAt(at)
    const kind = classOf(code)
    if (kind === LETTER) return this.#take('word', endOfWord(source, at + 1))
    if (kind === DIGIT) return this.#take('number', endOfNumber(source, at + 1))
    switch (code) {
      case QUOTE:
        return this.#string(at + 1)
      case MINUS:
        if (classOf(source.charCodeAt(at + 1)) === DIGIT)
          return this.#take('number', endOfNumber(source, at + 2))
        return this.#take('-', at + 1)
      case OPEN:
        return this.#take('(', at + 1)
      case CLOSE:
        return this.#take(')', at + 1)
      case DOT:
        return this.#take('.', at + 1)
      case COMMA:
        return this.#take(',', at + 1)
      case STAR:
        return this.#take('*', at + 1)
      case EQUALS:
      case COLON:
        return this.#take('op', at + 1)
      case LESS:
      case GREATER:
        return this.#take('op', source.charCodeAt(at + 1) === EQUALS ? at + 2 : at + 1)
      case BANG:
        if (source.charCodeAt(at + 1) === EQUALS) return this.#take('op', at + 2)
    }
    const hint = code === SINGLE_QUOTE ? ': put strings in double quotes' : ''
    this.fail(`unexpected character ${quoted(source.slice(at, at + 1 + Number(isHigh(code))))}`, at, hint)
  }

  /**
   * Throws an error about the filter.
   *
   * @throws InvalidArgument with the problem and its position, counted in characters from 1.
   */
  fail(what: string, at = this.start, hint = ''): never {
    throw new InvalidArgument(
      'filter',
      `${what} at position ${characters(this.source.slice(0, at)) + 1}${hint}`,
    )
  }

  #take(kind: TokenKind, end: number): void {
    this.kind = kind
    this.text = this.source.slice(this.start, end)
    this.#end = end
  }

  #string(from: number): void {
    const { source } = this
    let at = from
    let plain = true
    for (;;) {
      const code = source.charCodeAt(at)
      if (code === QUOTE) break
      if (Number.isNaN(code)) this.fail('unterminated string')
      if (code === BACKSLASH) {
        plain = false
        at++
        if (at >= source.length) this.fail('unterminated string')
      } else if (code === 0 || (code & 0xf800) === 0xd800) plain = false
      at++
    }
    this.kind = 'string'
    this.text = plain ? source.slice(from, at) : this.#unescaped(from, at)
    this.#end = at + 1
  }

  #unescaped(from: number, to: number): string {
    const value = this.source
      .slice(from, to)
      .replace(ESCAPE, (escape, hex: string | undefined, offset: number) => {
        if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16))
        const plain = JSON_ESCAPES[escape.charAt(1)]
        return (
          plain ??
          this.fail(`unknown escape ${quoted(escape)}`, from + offset, `: a backslash is written \\\\`)
        )
      })
    if (!this.bounded) return value
    if (value.includes('\0')) this.fail('string with a NUL character')
    if (LONE_SURROGATE.test(value)) this.fail('string with half of a surrogate pair')
    return value
  }
}

/** Quotes and escapes a string for a message, and truncates a long one. */
export const quoted = (text: string): string =>
  JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}...` : text)

const [QUOTE, SINGLE_QUOTE, BACKSLASH, OPEN, CLOSE, STAR, COMMA, DOT, MINUS] = [
  0x22, 0x27, 0x5c, 0x28, 0x29, 0x2a, 0x2c, 0x2e, 0x2d,
]
const [EQUALS, COLON, LESS, GREATER, BANG, PLUS] = [0x3d, 0x3a, 0x3c, 0x3e, 0x21, 0x2b]

/** The first characters of comparisons, and the dot of a path. */
const COMPARED: ReadonlySet<number> = new Set([EQUALS, COLON, LESS, GREATER, BANG, DOT])

const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|[^])/g
/**
 * Matches half of a surrogate pair. With the `u` flag a complete pair is one character and does not match.
 */
const LONE_SURROGATE = /\p{Surrogate}/u

const [SPACE, LETTER, DIGIT, JOINER] = [1, 2, 3, 4]
/**
 * The class of each ASCII character. A joiner (`-`, `/`) may occur inside a word but not at its beginning.
 */
const CLASSES = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code)
  if (/\s/.test(character)) return SPACE
  if (/[A-Za-z_]/.test(character)) return LETTER
  if (/\d/.test(character)) return DIGIT
  return character === '-' || character === '/' ? JOINER : 0
})

const classOf = (code: number): number => (code < 128 ? (CLASSES[code] ?? 0) : code >= 128 ? LETTER : 0)
const isHigh = (code: number): boolean => code >= 0xd800 && code <= 0xdbff

const endOfWord = (source: string, from: number): number => {
  let at = from
  while (classOf(source.charCodeAt(at)) > SPACE) at++
  return at
}

/**
 * Returns the end of a number, including characters that follow directly (`1.5s`, `2020-01-01`), so that an
 * error can quote all of it.
 */
const endOfNumber = (source: string, from: number): number => {
  let at = from
  for (;;) {
    const code = source.charCodeAt(at)
    const exponentSign = code === PLUS && (source.charCodeAt(at - 1) | 0x20) === 0x65
    if (classOf(code) <= SPACE && code !== DOT && !exponentSign) return at
    at++
  }
}

const characters = (text: string): number => {
  let count = 0
  for (const _ of text) count++
  return count
}

const indexOfCharacter = (text: string, nth: number): number => {
  let index = 0
  for (let count = 0; count < nth; count++) index += (text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1
  return index
}
