import type { Field } from '../fields/field.js'
import { kindOf } from '../kinds/kinds.js'
import { NUMBER } from '../kinds/literal.js'
import { type CelOperator, comparison, isBool, isNumber, isOperator, notAField } from './cel-comparison.js'

/**
 * A portable expression: the subset of CEL that every database can evaluate. Booleans occur only in
 * conditions, and numbers only in comparisons.
 */
export type CelNode =
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'bool'; readonly value: boolean }
  /** The field's value as a string. `absent` replaces NULL; the default is an empty string. */
  | { readonly kind: 'field'; readonly field: Field; readonly absent?: string }
  | { readonly kind: 'flag' | 'numeric'; readonly field: Field }
  /** A literal, whose notation is also valid SQL. */
  | { readonly kind: 'number'; readonly text: string }
  /** The name of an enum value. */
  | { readonly kind: 'name'; readonly text: string }
  | { readonly kind: 'entry'; readonly field: Field; readonly key: string }
  | { readonly kind: 'join'; readonly parts: readonly CelNode[] }
  | {
      readonly kind: 'lookup'
      readonly entries: readonly (readonly [string, string])[]
      readonly key: CelNode
    }
  | { readonly kind: 'if'; readonly test: CelNode; readonly then: CelNode; readonly otherwise: CelNode }
  | { readonly kind: 'same'; readonly left: CelNode; readonly right: CelNode; readonly negated: boolean }
  | {
      readonly kind: 'less'
      readonly left: CelNode
      readonly right: CelNode
      readonly operator: CelOperator
    }
  | { readonly kind: 'all' | 'any'; readonly parts: readonly CelNode[] }
  | { readonly kind: 'not'; readonly node: CelNode }
  | { readonly kind: 'lower'; readonly node: CelNode }
  | {
      readonly kind: 'replace'
      readonly node: CelNode
      readonly search: string
      readonly replacement: string
    }

class Unsupported extends SyntaxError {}

/**
 * Parses an expression, whose result must be a string. Returns the reason if it is outside the portable
 * subset.
 */
export function parseCel(text: string, fields: readonly Field[]): CelNode | string {
  try {
    return new CelParser(text, fields).parse()
  } catch (error) {
    if (error instanceof Unsupported) return error.message
    throw error
  }
}

const TOKEN =
  /\s*(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[A-Za-z_]\w*|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|==|!=|<=|>=|&&|\|\||[<>?:+!.,()[\]{}-])/y

/** A recursive descent parser with one method per rule, in order of increasing precedence. */
class CelParser {
  readonly #tokens: readonly string[]
  #at = 0

  constructor(
    text: string,
    private readonly fields: readonly Field[],
  ) {
    this.#tokens = tokens(text)
  }

  parse(): CelNode {
    const node = this.#ternary()
    if (this.#at < this.#tokens.length)
      throw new Unsupported(`${this.#peek()} is not supported at this position`)
    return this.#text(node)
  }

  #ternary(): CelNode {
    const test = this.#any()
    if (!this.#take('?')) return test
    const then = this.#text(this.#ternary())
    this.#expect(':')
    return { kind: 'if', test: this.#bool(test), then, otherwise: this.#text(this.#ternary()) }
  }

  #any(): CelNode {
    const parts = [this.#all()]
    while (this.#take('||')) parts.push(this.#all())
    return parts.length === 1
      ? (parts[0] as CelNode)
      : { kind: 'any', parts: parts.map((part) => this.#bool(part)) }
  }

  #all(): CelNode {
    const parts = [this.#same()]
    while (this.#take('&&')) parts.push(this.#same())
    return parts.length === 1
      ? (parts[0] as CelNode)
      : { kind: 'all', parts: parts.map((part) => this.#bool(part)) }
  }

  #same(): CelNode {
    const left = this.#sum()
    const operator = this.#peek()
    if (!isOperator(operator)) return left
    this.#next()
    const compared = comparison(left, operator, this.#sum())
    if (typeof compared === 'string') throw new Unsupported(compared)
    return compared
  }

  #sum(): CelNode {
    const parts = [this.#unary()]
    while (this.#take('+')) parts.push(this.#unary())
    return parts.length === 1
      ? (parts[0] as CelNode)
      : { kind: 'join', parts: parts.map((part) => this.#text(part)) }
  }

  #unary(): CelNode {
    return this.#take('!') ? { kind: 'not', node: this.#bool(this.#unary()) } : this.#call()
  }

  #call(): CelNode {
    let node = this.#primary()
    while (this.#take('.')) {
      const name = this.#next()
      this.#expect('(')
      if (name === 'lowerAscii') node = { kind: 'lower', node: this.#text(node) }
      else if (name === 'replace') {
        const search = this.#string()
        this.#expect(',')
        node = { kind: 'replace', node: this.#text(node), search, replacement: this.#string() }
      } else
        throw new Unsupported(`the function ${name} is not supported: lowerAscii() and replace(a, b) are`)
      this.#expect(')')
    }
    return node
  }

  #primary(): CelNode {
    const token = this.#next()
    if (token === '(') {
      const node = this.#ternary()
      this.#expect(')')
      return node
    }
    if (token === '{') return this.#lookup()
    if (/^["']/.test(token)) return { kind: 'text', value: unquoted(token) }
    if (token === 'true' || token === 'false') return { kind: 'bool', value: token === 'true' }
    if (token === '-') return this.#number(`-${this.#next()}`)
    if (/^\d/.test(token)) return this.#number(token)
    if (token !== 'msg') return this.#name(token)
    this.#expect('.')
    return this.#field(this.#next())
  }

  #number(text: string): CelNode {
    if (!NUMBER.test(text)) throw new Unsupported(`${text} is used, but a number is expected`)
    return { kind: 'number', text }
  }

  /** Parses an enum name: `ACTIVE`, `State.ACTIVE` or `shop.v1.State.ACTIVE`. */
  #name(first: string): CelNode {
    if (!/^[A-Za-z_]/.test(first) || this.#peek() === '(') throw new Unsupported(notAField(first))
    let text = first
    while (this.#take('.')) text += `.${this.#next()}`
    return { kind: 'name', text }
  }

  #field(name: string): CelNode {
    const field = this.fields.find((candidate) => candidate.proto === name)
    if (field === undefined || field.role === 'secret' || field.role === 'credential')
      throw new Unsupported(`there is no field ${name}`)
    const { hasKeys, isStoredAsText, declared } = kindOf(field)
    if (hasKeys) {
      this.#expect('[')
      const key = this.#string()
      this.#expect(']')
      return { kind: 'entry', field, key }
    }
    if (declared.family === 'booleans') return { kind: 'flag', field }
    if (isNumber(field)) return { kind: 'numeric', field }
    if (!isStoredAsText)
      throw new Unsupported(`${name} is ${field.kind}: only strings, enums and tags are text`)
    return { kind: 'field', field }
  }

  /** Parses a map literal that is followed directly by an index. */
  #lookup(): CelNode {
    const entries: [string, string][] = []
    while (!this.#take('}')) {
      if (entries.length > 0) this.#expect(',')
      const key = this.#string()
      this.#expect(':')
      entries.push([key, this.#string()])
    }
    this.#expect('[')
    const key = this.#text(this.#ternary())
    this.#expect(']')
    return { kind: 'lookup', entries, key }
  }

  #text(node: CelNode): CelNode {
    if (isBool(node)) throw new Unsupported('a condition is used, but a string is expected')
    if (node.kind === 'name') throw new Unsupported(notAField(node.text))
    if (node.kind === 'number') throw new Unsupported(`${node.text} is used, but a string is expected`)
    if (node.kind === 'numeric')
      throw new Unsupported(
        `${node.field.proto} is ${node.field.kind}: a number can be compared, but is not a string`,
      )
    return node
  }

  #bool(node: CelNode): CelNode {
    if (node.kind === 'name') throw new Unsupported(notAField(node.text))
    if (!isBool(node)) throw new Unsupported('a string is used, but a condition is expected')
    return node
  }

  #string(): string {
    const token = this.#next()
    if (!/^["']/.test(token)) throw new Unsupported(`${token} is used, but a string is expected`)
    return unquoted(token)
  }

  #peek(): string | undefined {
    return this.#tokens[this.#at]
  }

  #next(): string {
    const token = this.#tokens[this.#at++]
    if (token === undefined) throw new Unsupported('the expression is incomplete')
    return token
  }

  #take(token: string): boolean {
    const found = this.#peek() === token
    if (found) this.#at++
    return found
  }

  #expect(token: string): void {
    const found = this.#next()
    if (found !== token) throw new Unsupported(`${found} is used, but ${token} is expected`)
  }
}

function tokens(text: string): string[] {
  const found: string[] = []
  TOKEN.lastIndex = 0
  for (let at = 0; at < text.trimEnd().length; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at
    const match = TOKEN.exec(text)
    if (match === null)
      throw new Unsupported(`${JSON.stringify(text.slice(at).trim().slice(0, 10))} is not supported`)
    found.push(match[0].trim())
  }
  return found
}

const unquoted = (token: string): string =>
  token.slice(1, -1).replace(/\\(.)/g, (escape, character: string) => {
    if (!`\\"'`.includes(character)) throw new Unsupported(`the escape ${escape} is not supported`)
    return character
  })
