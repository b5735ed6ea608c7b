import type { Token } from './tokenize.js'

/** Reads tokens from left to right. Words must be passed in upper case. */
export class Cursor {
  #at = 0

  constructor(private readonly tokens: readonly Token[]) {}

  /** The tokens that have not been read. */
  get rest(): readonly Token[] {
    return this.tokens.slice(this.#at)
  }

  /** Returns true if the next tokens are these words or symbols. */
  sees(...words: readonly string[]): boolean {
    return words.every((word, index) => isWord(this.tokens[this.#at + index], word))
  }

  /** Skips these words if they come next. Returns true if they do. */
  take(...words: readonly string[]): boolean {
    const found = this.sees(...words)
    if (found) this.#at += words.length
    return found
  }

  /** Skips these words in any order and number. */
  skip(...words: readonly string[]): void {
    while (words.some((word) => this.take(word)));
  }

  /** Reads a name, qualified or not. Returns undefined if none comes next. */
  name(): string | undefined {
    return this.path()?.join('.')
  }

  /** Reads a name as its parts, each of which may contain a dot. */
  path(): readonly string[] | undefined {
    const parts: string[] = []
    do {
      const token = this.tokens[this.#at]
      if (token === undefined || (token.kind !== 'word' && token.kind !== 'quoted')) return undefined
      parts.push(nameOf(token))
      this.#at++
    } while (this.take('.'))
    return parts
  }

  /** Reads `( ... )` and returns the tokens inside. Returns undefined if no parenthesis comes next. */
  inParentheses(): readonly Token[] | undefined {
    if (!this.sees('(')) return undefined
    const end = closing(this.tokens, this.#at)
    const inside = this.tokens.slice(this.#at + 1, end)
    this.#at = end + 1
    return inside
  }
}

export const isWord = (token: Token | undefined, word: string): boolean =>
  token !== undefined && (token.kind === 'word' || token.kind === 'symbol') && token.value === word

/** Returns a name as both servers compare it: in lower case if it is unquoted, as written if it is quoted. */
export const nameOf = (token: Token): string =>
  token.kind === 'word' ? token.text.toLowerCase() : token.value

/** Returns the index of consecutive `words` outside parentheses, or -1. */
export function indexOfWords(tokens: readonly Token[], ...words: readonly string[]): number {
  for (let at = 0; at < tokens.length; at++) {
    if (words.every((word, index) => isWord(tokens[at + index], word))) return at
    if (isWord(tokens[at], '(')) at = closing(tokens, at)
  }
  return -1
}

export const hasWords = (tokens: readonly Token[], ...words: readonly string[]): boolean =>
  indexOfWords(tokens, ...words) >= 0

/** Returns the parts between the commas that are outside parentheses and brackets. */
export function listOf(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const parts: Token[][] = [[]]
  let depth = 0
  for (const token of tokens) {
    if (isWord(token, '(') || isWord(token, '[')) depth++
    if (isWord(token, ')') || isWord(token, ']')) depth--
    if (depth === 0 && isWord(token, ',')) parts.push([])
    else parts.at(-1)?.push(token)
  }
  return parts.filter((part) => part.length > 0)
}

function closing(tokens: readonly Token[], opening: number): number {
  let depth = 0
  for (let at = opening; at < tokens.length; at++) {
    if (isWord(tokens[at], '(')) depth++
    if (isWord(tokens[at], ')')) depth--
    if (depth === 0) return at
  }
  return tokens.length
}
