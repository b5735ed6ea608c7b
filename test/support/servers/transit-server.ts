import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that the server received. */
export interface Recorded {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Responds to a request in place of the engine. */
export type Misbehaviour = (request: Recorded, response: ServerResponse) => void

interface TransitKey {
  /** The versions of the key; `versions[0]` is version 1. */
  readonly versions: Buffer[]
  minDecryptionVersion: number
  isDerived: boolean
}

interface Item {
  readonly plaintext?: unknown
  readonly ciphertext?: unknown
  readonly associated_data?: unknown
  readonly key_version?: unknown
  readonly reference?: unknown
}

/** An error of the caller. The response is a 400 in the format of Vault. */
class UserError {
  constructor(readonly message: string) {}
}

/**
 * The part of the Vault HTTP API that a transit client uses, in this process: encrypt, decrypt and rewrap
 * with key versions, `associated_data` and `batch_input`. Errors have the format of Vault.
 */
export class TransitServer {
  readonly token = newToken()
  /** The valid tokens, with their remaining lifetimes. A token with undefined does not expire. */
  readonly tokens = new Map<string, TokenLife | undefined>([[this.token, undefined]])
  /** The login paths, such as `auth/approle/login`, with the request body that each of them accepts. */
  readonly logins = new Map<string, Readonly<Record<string, string>>>()
  /** The requests to the transit engine. */
  readonly requests: Recorded[] = []
  /** The requests about tokens and logins. */
  readonly authRequests: Recorded[] = []
  /** Responds in place of the engine until it is undefined again. */
  misbehaviour: Misbehaviour | undefined
  isSealed = false
  /** If true, policies deny tokens to look up themselves. */
  deniesLookups = false
  /** The number of requests before the rate limit applies; undefined for no limit. */
  quota: number | undefined
  readonly #keys = new Map<string, TransitKey>()
  readonly #server = createServer((request, response) => void this.#handle(request, response))

  static async start(...keyNames: string[]): Promise<TransitServer> {
    const server = new TransitServer()
    for (const name of keyNames) {
      server.#keys.set(name, { versions: [randomBytes(32)], minDecryptionVersion: 0, isDerived: false })
    }
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve))
    return server
  }

  get addr(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  rotate(name: string): void {
    this.#key(name).versions.push(randomBytes(32))
  }

  setMinDecryptionVersion(name: string, version: number): void {
    this.#key(name).minDecryptionVersion = version
  }

  /** Holds requests until `letGo` is called. */
  hold(): { readonly held: number; letGo(): void } {
    const held: (() => void)[] = []
    this.misbehaviour = (request, response) => held.push(() => this.#answer(request, response))
    return {
      get held() {
        return held.length
      },
      letGo: () => {
        this.misbehaviour = undefined
        for (const answer of held.splice(0)) answer()
      },
    }
  }

  /** Closes the idle keep-alive connections. */
  dropKept(): void {
    this.#server.closeIdleConnections()
  }

  derive(name: string): void {
    this.#key(name).isDerived = true
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const { method = '', url = '', headers } = incoming
    const request = { method, url, headers, body: Buffer.concat(chunks).toString() }
    if (url.startsWith('/v1/auth/')) return this.#auth(request, response)
    this.requests.push(request)
    if (this.misbehaviour !== undefined) return this.misbehaviour(request, response)
    this.#answer(request, response)
  }

  #answer(request: Recorded, response: ServerResponse): void {
    if (this.isSealed) return errors(response, 503, 'Vault is sealed')
    const match = /^\/v1\/transit\/(encrypt|decrypt|rewrap)\/([A-Za-z0-9_.-]+)$/.exec(request.url)
    if (match === null) {
      return errors(response, 404, `no handler for route "${request.url.slice(4)}". route entry not found.`)
    }
    if (!this.tokens.has(String(request.headers['x-vault-token'])))
      return errors(response, 403, 'permission denied')
    if (this.quota !== undefined && this.quota-- <= 0) {
      return errors(response, 429, `request path "${request.url.slice(4)}": rate limit quota exceeded`)
    }
    if (request.method !== 'POST' && request.method !== 'PUT')
      return errors(response, 405, 'unsupported operation')
    const body = parse(request.body)
    if (body === undefined) return errors(response, 400, 'failed to parse JSON input: invalid character')
    if (stringsIn(body) > MAX_STRINGS)
      return errors(response, 400, 'failed to parse JSON input: the number of strings exceeds the limit')
    const key = this.#keys.get(match[2] ?? '')
    if (key === undefined) return errors(response, 400, 'encryption key not found')
    if (key.isDerived)
      return errors(
        response,
        400,
        "missing 'context' for key derivation; the key was created using a derived key",
      )
    const operation = OPERATIONS[match[1] as keyof typeof OPERATIONS]
    if (body.batch_input !== undefined) return batch(response, key, operation, body)
    const result = attempt(() => operation(key, body))
    if (result instanceof UserError) return errors(response, 400, result.message)
    send(response, 200, envelope(result))
  }

  #auth(request: Recorded, response: ServerResponse): void {
    this.authRequests.push(request)
    const path = request.url.slice('/v1/'.length)
    const login = this.logins.get(path)
    if (login !== undefined) {
      const body = parse(request.body) as Readonly<Record<string, unknown>> | undefined
      if (Object.entries(login).some(([name, value]) => body?.[name] !== value))
        return errors(response, 400, 'invalid credentials')
      const client_token = newToken()
      this.tokens.set(client_token, { ttl: 3600, renewable: true })
      return send(response, 200, { auth: { client_token, lease_duration: 3600, renewable: true } })
    }
    const token = String(request.headers['x-vault-token'])
    const life = this.tokens.get(token)
    const isDenied = this.deniesLookups && path === 'auth/token/lookup-self'
    if (isDenied || !this.tokens.has(token)) return errors(response, 403, 'permission denied')
    if (path === 'auth/token/lookup-self')
      return send(response, 200, envelope({ ttl: life?.ttl ?? 0, renewable: life?.renewable ?? false }))
    if (path !== 'auth/token/renew-self') return errors(response, 404, 'no handler for route')
    if (life?.renewable !== true) return errors(response, 400, 'lease is not renewable')
    send(response, 200, { auth: { client_token: token, lease_duration: life.ttl, renewable: true } })
  }

  #key(name: string): TransitKey {
    const key = this.#keys.get(name)
    if (key === undefined) throw new RangeError(`no key ${name}`)
    return key
  }
}

/** The time to live of the token in seconds. */
interface TokenLife {
  readonly ttl: number
  readonly renewable: boolean
}

const newToken = (): string => `hvs.${randomBytes(18).toString('base64url')}`

/** The number of strings in a request that a server with default settings accepts. */
const MAX_STRINGS = 1000

/** Counts the names and values in a request as the server does. */
function stringsIn(value: unknown): number {
  if (typeof value === 'string') return 1
  if (typeof value !== 'object' || value === null) return 0
  const names = Array.isArray(value) ? 0 : Object.keys(value).length
  return Object.values(value).reduce<number>((sum, one) => sum + stringsIn(one), names)
}

type Operation = (key: TransitKey, item: Item) => Record<string, unknown>

const encrypt: Operation = (key, item) => {
  if (typeof item.plaintext !== 'string') throw new UserError('missing plaintext to encrypt')
  const version = Number(item.key_version ?? 0) || key.versions.length
  const secret = key.versions[version - 1]
  if (secret === undefined)
    throw new UserError('requested version for encryption is higher than the latest key version')
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', secret, nonce).setAAD(bytes(item.associated_data ?? ''))
  const sealed = [nonce, cipher.update(bytes(item.plaintext)), cipher.final(), cipher.getAuthTag()]
  return { ciphertext: `vault:v${version}:${Buffer.concat(sealed).toString('base64')}`, key_version: version }
}

const decrypt: Operation = (key, item) => {
  const { ciphertext } = item
  if (typeof ciphertext !== 'string' || ciphertext === '')
    throw new UserError('missing ciphertext to decrypt')
  if (!ciphertext.startsWith('vault:v')) throw new UserError('invalid ciphertext: no prefix')
  const [version, encoded] = splitOnce(ciphertext.slice('vault:v'.length))
  if (!/^\d+$/.test(version)) throw new UserError('invalid ciphertext: version number could not be decoded')
  const secret = key.versions[Number(version) - 1]
  if (secret === undefined) throw new UserError('invalid ciphertext: version is too new')
  if (Number(version) < key.minDecryptionVersion) {
    throw new UserError('ciphertext or signature version is disallowed by policy (too old)')
  }
  const frame = bytes(encoded, 'invalid ciphertext: could not decode base64')
  if (frame.length < 28) throw new UserError('invalid ciphertext length')
  try {
    const decipher = createDecipheriv('aes-256-gcm', secret, frame.subarray(0, 12))
    decipher.setAuthTag(frame.subarray(-16)).setAAD(bytes(item.associated_data ?? ''))
    const plaintext = Buffer.concat([decipher.update(frame.subarray(12, -16)), decipher.final()])
    return { plaintext: plaintext.toString('base64') }
  } catch {
    throw new UserError('cipher: message authentication failed')
  }
}

/** Rewraps a value without associated data, which Vault does not support here. */
const rewrap: Operation = (key, item) => {
  const { plaintext } = decrypt(key, { ciphertext: item.ciphertext })
  return encrypt(key, { plaintext, key_version: item.key_version })
}

const OPERATIONS = { encrypt, decrypt, rewrap }

/**
 * Processes a batch. If one item is invalid, the status is 400, but the response still contains every result.
 * For rewrap, the status is 200.
 */
function batch(response: ServerResponse, key: TransitKey, operation: Operation, body: Batch): void {
  const items = body.batch_input
  if (!Array.isArray(items) || items.length === 0)
    return errors(response, 400, 'missing batch input to process')
  const results = items.map((item: Item) => {
    const result = attempt(() => operation(key, item))
    const reference = item.reference === undefined ? {} : { reference: item.reference }
    if (!(result instanceof UserError)) return { ...result, ...reference }
    return { ...(operation === decrypt ? { plaintext: '' } : {}), error: result.message, ...reference }
  })
  const isFailed = results.some((result) => 'error' in result)
  const status = isFailed && operation !== rewrap ? Number(body.partial_failure_response_code ?? 400) : 200
  send(response, status, envelope({ batch_results: results }))
}

interface Batch extends Item {
  readonly batch_input?: unknown
  readonly partial_failure_response_code?: unknown
}

function attempt<T>(fn: () => T): T | UserError {
  try {
    return fn()
  } catch (error) {
    if (error instanceof UserError) return error
    throw error
  }
}

function parse(text: string): Batch | undefined {
  try {
    return JSON.parse(text) as Batch
  } catch {
    return undefined
  }
}

function bytes(text: unknown, otherwise = 'illegal base64 data at input byte 0'): Buffer {
  const decoded = Buffer.from(String(text), 'base64')
  if (decoded.toString('base64') !== text) throw new UserError(otherwise)
  return decoded
}

function splitOnce(text: string): [version: string, encoded: string] {
  const at = text.indexOf(':')
  if (at < 0) throw new UserError('invalid ciphertext: wrong number of fields')
  return [text.slice(0, at), text.slice(at + 1)]
}

const envelope = (data: object): object => ({
  request_id: randomUUID(),
  ...{ lease_id: '', renewable: false, lease_duration: 0, data, wrap_info: null, warnings: null, auth: null },
  mount_type: 'transit',
})

const errors = (response: ServerResponse, status: number, message: string): void =>
  send(response, status, { errors: [message] })

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
  response.end(`${JSON.stringify(body)}\n`)
}
