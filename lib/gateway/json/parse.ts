import { InvalidArgument } from '../../errors.js'
import { JSON_ESCAPES } from '../../text/json-escapes.js'

/** A number in its original notation, because a JavaScript number may not represent it exactly. */
export class JsonNumber {
  constructor(readonly text: string) {}
}

/** A parsed document. Objects are maps, so that `__proto__` is an ordinary name. */
export type Json = null | boolean | number | string | JsonNumber | Json[] | Map<string, Json>

/** The maximum nesting depth of objects and arrays. */
export const MAX_JSON_DEPTH = 100

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const PLAIN = /[^"\\\u0000-\u001f]*/y

/**
 * Parses RFC 8259 text as I-JSON (RFC 7493): duplicate names, lone surrogates and more than {@link
 * MAX_JSON_DEPTH} levels are rejected, and all digits of numbers are preserved.
 * @throws InvalidArgument with the position, but never with the text.
 */
export function parseJson(text: string): Json {
  const reader = new Reader(text)
  const value = reader.value(0)
  reader.end()
  return value
}

/** Shared by all empty objects and arrays. A megabyte of text can contain hundreds of thousands of them. */
const NO_MEMBERS: Map<string, Json> = new Map()
const NO_ITEMS: Json[] = []

class Reader {
  #at = 0

  constructor(readonly text: string) {}

  value(depth: number): Json {
    this.#space()
    switch (this.text[this.#at]) {
      case '{':
        return this.#object(depth + 1)
      case '[':
        return this.#array(depth + 1)
      case '"':
        return this.#string()
      case 't':
        return this.#word('true', true)
      case 'f':
        return this.#word('false', false)
      case 'n':
        return this.#word('null', null)
      default:
        return this.#number()
    }
  }

  end(): void {
    this.#space()
    if (this.#at < this.text.length) throw this.#fault('unexpected text after the value')
  }

  #object(depth: number): Map<string, Json> {
    this.#checkDepth(depth)
    if (this.#opensEmpty('}')) return NO_MEMBERS
    const members = new Map<string, Json>()
    do {
      this.#space()
      if (this.text[this.#at] !== '"') throw this.#fault('expected a name in double quotes')
      const start = this.#at
      const name = this.#string()
      if (members.has(name)) throw this.#fault('duplicate name', start)
      this.#space()
      if (this.text[this.#at] !== ':') throw this.#fault('expected ":"')
      this.#at++
      members.set(name, this.value(depth))
    } while (this.#continues('}'))
    return members
  }

  #array(depth: number): Json[] {
    this.#checkDepth(depth)
    if (this.#opensEmpty(']')) return NO_ITEMS
    const items: Json[] = []
    do items.push(this.value(depth))
    while (this.#continues(']'))
    return items
  }

  #opensEmpty(close: string): boolean {
    this.#at++
    this.#space()
    if (this.text[this.#at] !== close) return false
    this.#at++
    return true
  }

  #continues(close: string): boolean {
    this.#space()
    const next = this.text[this.#at]
    if (next !== ',' && next !== close) throw this.#fault(`expected "," or "${close}"`)
    this.#at++
    return next === ','
  }

  #string(): string {
    let result = ''
    let escaped = false
    this.#at++
    for (;;) {
      PLAIN.lastIndex = this.#at
      const plain = PLAIN.exec(this.text)?.[0] ?? ''
      this.#at += plain.length
      result += plain
      const next = this.text[this.#at]
      if (next === '"') break
      if (next !== '\\')
        throw this.#fault(next === undefined ? 'unterminated string' : 'control character in a string')
      result += this.#escape()
      escaped = true
    }
    this.#at++
    if (escaped && LONE_SURROGATE.test(result)) throw this.#fault('half of a surrogate pair in a string')
    return result
  }

  #escape(): string {
    const letter = this.text[this.#at + 1] ?? ''
    if (letter === 'u') {
      const hex = this.text.slice(this.#at + 2, this.#at + 6)
      if (!/^[0-9a-fA-F]{4}$/.test(hex)) throw this.#fault('expected four hexadecimal digits')
      this.#at += 6
      return String.fromCharCode(Number.parseInt(hex, 16))
    }
    const character = Object.hasOwn(JSON_ESCAPES, letter) ? JSON_ESCAPES[letter] : undefined
    if (character === undefined) throw this.#fault('unknown escape')
    this.#at += 2
    return character
  }

  #number(): number | JsonNumber {
    NUMBER.lastIndex = this.#at
    const literal = NUMBER.exec(this.text)?.[0]
    if (literal === undefined) throw this.#fault('expected a value')
    this.#at += literal.length
    const value = Number(literal)
    return literal.length <= 15 && Number.isFinite(value) ? value : new JsonNumber(literal)
  }

  #word<T>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.#at)) throw this.#fault('expected a value')
    this.#at += word.length
    return value
  }

  #space(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.#at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
      this.#at++
    }
  }

  #checkDepth(depth: number): void {
    if (depth > MAX_JSON_DEPTH) throw this.#fault(`more than ${MAX_JSON_DEPTH} levels`)
  }

  #fault(why: string, at = this.#at): InvalidArgument {
    return new InvalidArgument('', `invalid JSON at character ${at + 1}: ${why}`)
  }
}

const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/
