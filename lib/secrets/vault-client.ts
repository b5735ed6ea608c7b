import { TransitError } from '../errors.js'
import { abortError } from './abort-error.js'
import { safeBody } from './safe-body.js'

/** The address and identity of a client. */
export interface VaultClientConfig {
  /** Without a trailing slash. */
  readonly endpoint: string
  readonly token: string
  readonly namespace: string
  readonly timeoutMs: number
  readonly fetch: typeof fetch
}

export interface VaultCall {
  /** Below `/v1/`. */
  readonly path: string
  /** For error texts. */
  readonly operation: string
  readonly body: Readonly<Record<string, unknown>>
  /** What an error must not repeat, in addition to the token. */
  readonly secrets: readonly string[]
  readonly signal: AbortSignal | undefined
}

const MAX_RESPONSE_BYTES = 32 * 1024 * 1024
const MAX_ERROR_BYTES = 16 * 1024

/**
 * Posts to a Vault server through node-vault and returns the body's `data`. That library only provides the URL and the
 * headers. Its own transport always follows redirects with the token, honours `VAULT_SKIP_VERIFY` and takes 204 for
 * success. Its log writes request bodies; its settings fall back to `VAULT_*` variables.
 * @throws TransitError for anything but status 200 with a JSON object that has `data`.
 */
export function vaultClient(
  config: VaultClientConfig,
): (call: VaultCall) => Promise<Record<string, unknown>> {
  let loading: Promise<Write> | undefined
  return async (call) => {
    if (call.signal?.aborted) throw abortError(call.signal)
    const write = await (loading ??= connect(config))
    return write(call.path, call.body, { call })
  }
}

type Write = (path: string, body: object, options: { call: VaultCall }) => Promise<Record<string, unknown>>

/** What node-vault passes to a transport: the options given to it, and what it made of them. */
interface Request {
  readonly call: VaultCall
  readonly method: string
  readonly uri: string
  readonly headers: Readonly<Record<string, string>>
  readonly json: object
}

async function connect(config: VaultClientConfig): Promise<Write> {
  const { default: nodeVault } = await import('node-vault')
  const client = nodeVault({
    apiVersion: 'v1',
    endpoint: config.endpoint,
    token: config.token,
    debug: () => undefined,
    'request-promise': { defaults: () => (request: Request) => send(config, request) },
  })
  // Empty strings given as options would be replaced by VAULT_PREFIX and VAULT_NAMESPACE.
  Object.assign(client, { pathPrefix: '', namespace: config.namespace })
  return (path, body, options) => client.write(path, body, options) as ReturnType<Write>
}

async function send(config: VaultClientConfig, request: Request) {
  const { operation, secrets, signal } = request.call
  const hidden = [config.token, ...secrets]
  const response = await exchange(config, request)
  if (response.statusCode !== 200) {
    const hint =
      response.statusCode >= 300 && response.statusCode < 400 ? ' (redirects are not followed)' : ''
    const body = response.text === undefined ? '(a long body)' : safeBody(response.text, hidden)
    throw new TransitError(`${operation} returned ${response.statusCode}${hint}: ${body}`, {
      statusCode: response.statusCode,
      body,
    })
  }
  if (signal?.aborted) throw abortError(signal)
  return {
    statusCode: 200,
    body: dataOf(response.text, operation),
    request: { path: new URL(request.uri).pathname },
  }
}

/** One request and its whole response, within the timeout. `text` is undefined for a response that is too long. */
async function exchange(config: VaultClientConfig, request: Request) {
  const { operation, signal } = request.call
  const controller = new AbortController()
  const giveUp = (): void => controller.abort()
  const timer = setTimeout(giveUp, config.timeoutMs)
  signal?.addEventListener('abort', giveUp, { once: true })
  try {
    const response = await config.fetch(request.uri, {
      method: request.method,
      headers: { ...request.headers, 'Content-Type': 'application/json', Accept: 'application/json' },
      body: JSON.stringify(request.json),
      redirect: 'manual',
      signal: controller.signal,
    })
    const text = await readAtMost(response, response.status === 200 ? MAX_RESPONSE_BYTES : MAX_ERROR_BYTES)
    return { statusCode: response.status, text }
  } catch (error) {
    if (signal?.aborted) throw abortError(signal)
    if (controller.signal.aborted)
      throw new TransitError(`${operation}: no response within ${config.timeoutMs} ms`)
    throw new TransitError(`${operation}: the connection failed${reasonOf(error)}`)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', giveUp)
  }
}

async function readAtMost(response: Response, limit: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  // Leaving the loop early cancels the rest of the body.
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > limit) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** Only the code of a failed connection: messages of lower layers may quote what was sent. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return typeof code === 'string' && /^[A-Z0-9_]{1,40}$/.test(code) ? ` (${code})` : ''
}

/** The text of a successful response never enters an error: it may be a decrypted secret. */
function dataOf(text: string | undefined, operation: string): Record<string, unknown> {
  if (text === undefined)
    throw new TransitError(`${operation}: the response is too long`, { statusCode: 200 })
  const data = dataIn(text)
  if (data === undefined) {
    throw new TransitError(`${operation}: the response is not JSON with an object 'data'`, {
      statusCode: 200,
    })
  }
  return data
}

function dataIn(text: string): Record<string, unknown> | undefined {
  try {
    const body: unknown = JSON.parse(text)
    const data = typeof body === 'object' && body !== null && 'data' in body ? body.data : undefined
    return typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
