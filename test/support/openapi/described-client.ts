import { expect } from 'chai'
import { Described, type JsonObject, type JsonValue, type Operation } from './described.js'

export interface Sent {
  readonly path?: Readonly<Record<string, string>>
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: JsonValue
  /** A body with its content type, sent in place of `body`. */
  readonly raw?: readonly [contentType: string, body: string]
}

export interface Received {
  readonly status: number
  readonly headers: Headers
  readonly body: JsonObject
}

/** Calls the operations of a document and fails if a response does not match the document. */
export class DescribedClient {
  readonly #seen = new Map<string, Set<string>>()

  constructor(
    readonly described: Described,
    private readonly origin: string,
    private readonly headers: Readonly<Record<string, string>>,
  ) {}

  /**
   * @param id - the operation ID, or its last part.
   */
  async call(id: string, status: number, sent: Sent = {}): Promise<Received> {
    const operation = this.described.operation(id)
    const path = operation.path.replaceAll(/\{([^}]+)\}/g, (_, name: string) =>
      encodeURIComponent(sent.path?.[name] ?? fail(`${id} needs ${name}`)),
    )
    const headers = { ...this.headers, ...sent.headers }
    const [contentType, raw] = sent.raw ?? [
      'application/json',
      sent.body === undefined ? undefined : JSON.stringify(sent.body),
    ]
    const response = await fetch(`${this.origin}${path}${sent.query === undefined ? '' : `?${sent.query}`}`, {
      method: operation.method,
      headers: raw === undefined ? headers : { 'content-type': contentType, ...headers },
      ...(raw !== undefined && { body: raw }),
    })
    const text = await response.text()
    const type = response.headers.get('content-type') ?? ''
    const body =
      text === '' ? undefined : type === 'application/json' ? (JSON.parse(text) as JsonObject) : text
    const name = `${operation.operationId} ${operation.method} ${path}`
    expect(response.status, `${name}: ${text}`).to.equal(status)
    expect(
      this.described.problems(operation, status, type, body),
      `${name} ${status}: ${text}`,
    ).to.deep.equal([])
    expect(response.headers.get('x-request-id'), name).to.match(/./)
    const seen = this.#seen.get(operation.operationId) ?? new Set()
    this.#seen.set(operation.operationId, seen.add(String(status)))
    return { status, headers: response.headers, body: body as JsonObject }
  }

  /**
   * Causes the errors that every operation in the document can return. `body` is the example of the operation
   * by default.
   */
  async provoke(operation: Operation, body = operation.example): Promise<void> {
    const { operationId: id, statuses, variables, requiredQuery, hasBody } = operation
    const path = Object.fromEntries(variables.map((name) => [name, 'nobody']))
    const query = requiredQuery.map((name) => `${name}=${QUERY[name] ?? '1'}`).join('&')
    const valid: Sent = { path, query, ...(body !== undefined && { body }) }
    await this.call(id, 400, { ...valid, query: `${query}&no_such_parameter=1` })
    if (statuses.includes('403')) await this.call(id, 403, { ...valid, headers: NONE })
    if (statuses.includes('404') && variables.length > 0 && !id.includes('.List'))
      await this.call(id, 404, valid)
    if (!hasBody) return
    await this.call(id, 415, { path, query, raw: ['text/plain', '{}'] })
    await this.call(id, 413, { path, query, raw: ['application/json', ' '.repeat(2 ** 20 + 1)] })
    await this.call(id, 400, { path, query, raw: ['application/json', '{"noSuchField": 1}'] })
  }

  /** Returns the statuses that an operation has returned so far. */
  seen(id: string): ReadonlySet<string> {
    return this.#seen.get(id) ?? new Set()
  }

  /** Returns the operations and statuses in the document that no call has returned. */
  missing(): readonly string[] {
    return this.described.operations.flatMap(({ operationId, statuses }) =>
      statuses
        .filter((status) => status !== 'default' && !this.seen(operationId).has(status))
        .map((status) => `${operationId} ${status}`),
    )
  }
}

/** The values of required query parameters that do not accept `1`. */
const QUERY: Readonly<Record<string, string>> = { update_mask: '*', names: 'shelves/nobody/books/nobody' }
const NONE = { 'account-id': '', subject: '', groups: '' }

function fail(text: string): never {
  throw new Error(text)
}
