import { Agent } from 'node:http'
import { Agent as SecureAgent } from 'node:https'
import { setTimeout as pause } from 'node:timers/promises'
import { TransitError } from '../../errors.js'
import { abortError } from '../../bounds/abort-error.js'
import { RequestEnd } from './request-end.js'
import { safeBody } from './safe-body.js'
import type { ResolvedTransit } from './transit-options.js'
import { isObject, jsonIn } from './json-object.js'
import {
  type Address,
  addressOf,
  type Exchange,
  exchangeByAgent,
  exchangeByFetch,
  type VaultResponse,
} from './vault-request.js'
import { VaultToken } from './vault-token.js'

export interface VaultCall {
  /** The path after `/v1/`. */
  readonly path: string
  /** The operation's name in errors. */
  readonly operation: string
  readonly body: Readonly<Record<string, unknown>>
  /** Strings that an error must not contain, in addition to the tokens. */
  readonly secrets: readonly string[]
  /** The index of this request's first item in the whole batch. */
  readonly offset?: number
  readonly signal: AbortSignal | undefined
}

/** A client of one Vault server. */
export interface VaultClient {
  /**
   * Sends a POST request and returns the response's `data`. If the token is rejected, it is replaced once. If
   * the server is temporarily unavailable, the request is sent once more.
   *
   * @throws TransitError unless the status is 200 and the body a JSON object with `data`.
   */
  post(call: VaultCall): Promise<Record<string, unknown>>
  /** The strings that an error must not contain: all tokens so far. */
  readonly tokens: readonly string[]
  close(): Promise<void>
}

/** The maximum number of connections. Further requests wait. */
const MAX_SOCKETS = 64
/**
 * The statuses of a standby, of a busy server, and of a server that does not yet have the requested state.
 */
const TRANSIENT = new Set([412, 429, 473, 503])
/** The time in milliseconds before the second attempt, if the server states none. */
const PAUSE_MS = 50
/**
 * The minimum wait in milliseconds after status 429, because the server rounds `Retry-After` down to whole
 * seconds.
 */
const BUSY_MS = 1_000
/** The maximum random delay in milliseconds, so that clients do not retry simultaneously. */
const JITTER = { busyMs: 500, pauseMs: 50 } as const
/** The minimum time in milliseconds between two reports of a rejected call, per operation and status. */
const REPORT_MS = 60_000

export function vaultClient(config: Omit<ResolvedTransit, 'mount' | 'indexKey'>): VaultClient {
  const { endpoint, namespace, timeoutMs, warn } = config
  const isHttps = endpoint.startsWith('https:')
  const agent = new (isHttps ? SecureAgent : Agent)({ keepAlive: true, maxSockets: MAX_SOCKETS })
  const exchange: Exchange =
    config.fetch === undefined ? exchangeByAgent(agent, isHttps) : exchangeByFetch(config.fetch)
  const addresses = new Map<string, Address>()
  const addressAt = (path: string): Address => {
    const known = addresses.get(path) ?? addressOf(`${endpoint}/v1/${path}`)
    addresses.set(path, known)
    return known
  }
  const send = (method: string, path: string, body: string, token: string, end: RequestEnd) =>
    exchange({ method, address: addressAt(path), headers: headersOf(token, namespace), body, end })
  const token = new VaultToken(config, (method, path, held) => {
    const end = new RequestEnd(timeoutMs)
    return send(method, path, method === 'POST' ? '{}' : '', held, end).finally(() => end.close())
  })

  const attempt = async (call: VaultCall, body: string, end: RequestEnd): Promise<VaultResponse> => {
    const { path } = call
    const held = await token.held(end)
    const first = await send('POST', path, body, held, end)
    if (first.statusCode === 403) {
      const fresh = await token.replaced(held, end)
      return fresh === undefined ? first : send('POST', path, body, fresh, end)
    }
    if (!TRANSIENT.has(first.statusCode) || isSealed(first)) return first
    const wait = waitOf(first)
    if (wait >= end.leftMs) return first
    await pause(wait, undefined, { signal: end.signal })
    return send('POST', path, body, held, end)
  }

  const reported = new Map<string, number>()
  const report = (operation: string, { message, statusCode }: TransitError): void => {
    const key = `${operation} ${statusCode}`
    const last = reported.get(key)
    if (last !== undefined && performance.now() - last < REPORT_MS) return
    reported.set(key, performance.now())
    warn(`newVaultTransit: ${message}`)
  }

  return {
    get tokens() {
      return token.seen
    },
    async post(call) {
      const { operation, signal } = call
      if (signal?.aborted) throw abortError(signal)
      const end = new RequestEnd(timeoutMs, signal)
      try {
        const response = await attempt(call, JSON.stringify(call.body), end)
        if (response.statusCode !== 200) {
          const failure = failureOf(response, call, token.seen)
          if (response.statusCode === 403) report(operation, failure)
          throw failure
        }
        if (signal?.aborted) throw abortError(signal)
        return dataOf(response.text, operation)
      } catch (error) {
        if (error instanceof TransitError) throw error
        if (signal?.aborted) throw abortError(signal)
        // If a server does not respond on one connection, its other idle connections are closed, too.
        if (end.isOver) destroyIdle(agent)
        if (end.isOver)
          throw new TransitError(`${operation}: no response within ${timeoutMs} ms`, { reason: 'timeout' })
        const reason = reasonOf(error)
        const why = reason === undefined ? '' : ` (${reason})`
        throw new TransitError(`${operation}: the connection failed${why}`, {
          reason: reason ?? 'connection failed',
        })
      } finally {
        end.close()
      }
    },
    close() {
      token.close()
      agent.destroy()
      return Promise.resolve()
    },
  }
}

/**
 * Returns the headers. An agent in front of a server may require `X-Vault-Request`, because a page in a
 * browser cannot send it.
 */
const headersOf = (token: string, namespace: string): Record<string, string> => ({
  ...(token !== '' && { 'X-Vault-Token': token }),
  ...(namespace !== '' && { 'X-Vault-Namespace': namespace }),
  'X-Vault-Request': 'true',
  'Content-Type': 'application/json',
  Accept: 'application/json',
})

/** Returns true if the server is sealed, which it remains until an operator unseals it. */
const isSealed = ({ statusCode, text = '' }: VaultResponse): boolean =>
  statusCode === 503 && /\bsealed\b/.test(text)

/**
 * Returns the time in milliseconds until the second attempt. `Retry-After` is a number of seconds or a date
 * (RFC 9110).
 */
function waitOf({ retryAfter = '', statusCode }: VaultResponse): number {
  const given = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.now()
  const ms = Number.isNaN(given) ? 0 : Math.max(0, given)
  if (statusCode === 429) return ms + BUSY_MS + Math.random() * JITTER.busyMs
  return Math.max(PAUSE_MS, ms) + Math.random() * JITTER.pauseMs
}

const destroyIdle = ({ freeSockets }: Agent): void => {
  for (const sockets of Object.values(freeSockets)) for (const socket of sockets ?? []) socket.destroy()
}

/**
 * Returns the error of a response. For a batch, the cause is only the failed item's error, because it could
 * be truncated in the whole body.
 */
function failureOf(response: VaultResponse, call: VaultCall, tokens: readonly string[]): TransitError {
  const { statusCode, text } = response
  const { operation, secrets, offset = 0 } = call
  const results = text === undefined ? undefined : jsonIn(text)?.data
  const items: readonly unknown[] =
    isObject(results) && Array.isArray(results.batch_results) ? results.batch_results : []
  const failed = items.findIndex(
    (item) => isObject(item) && typeof item.error === 'string' && item.error !== '',
  )
  const item = items[failed]
  if (isObject(item)) {
    return itemError(operation, String(item.error), tokens, secrets, { statusCode, item: offset + failed })
  }
  const body = text === undefined ? '(a long body)' : safeBody(text, tokens, secrets)
  const hint = statusCode >= 300 && statusCode < 400 ? ' (redirects are not followed)' : adviceOf(text)
  const reason = isSealed(response) ? 'sealed' : String(statusCode)
  return new TransitError(`${operation} returned ${statusCode}${hint}: ${body}`, { statusCode, body, reason })
}

/** Returns the error of one batch item, with the item's own error as its cause. */
export function itemError(
  operation: string,
  text: string,
  tokens: readonly string[],
  secrets: readonly string[],
  { statusCode, item }: { readonly statusCode: number; readonly item: number },
): TransitError {
  const body = safeBody(text, tokens, secrets)
  const problem = `${operation}: item ${item}${adviceOf(text)}: ${body}`
  return new TransitError(problem, { statusCode, body, item })
}

const adviceOf = (body = ''): string =>
  /key derivation|derived key/.test(body)
    ? ' (the key is derived, and needs a context with each call: use a key created without "derived")'
    : ''

/** Returns only the code of a failed connection, because messages of lower layers may quote the request. */
function reasonOf(error: unknown): string | undefined {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return typeof code === 'string' && /^[A-Z0-9_/]{1,100}$/.test(code) ? code : undefined
}

/**
 * Returns the `data` of a successful response. Errors never contain the response, because it may be a
 * decrypted secret.
 */
function dataOf(text: string | undefined, operation: string): Record<string, unknown> {
  if (text === undefined)
    throw new TransitError(`${operation}: the response is too long`, { statusCode: 200 })
  const body = jsonIn(text)
  if (body === undefined)
    throw new TransitError(
      `${operation}: the response is not a JSON object: a proxy in front of the server may have responded`,
      { statusCode: 200, reason: 'not the server', isOutage: true },
    )
  const { data } = body
  if (!isObject(data)) {
    throw new TransitError(`${operation}: the response is not JSON with an object 'data'`, {
      statusCode: 200,
    })
  }
  return data
}
