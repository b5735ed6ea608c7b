import { DeclarationError } from '../errors.js'

const MIN_INDEX_KEY_BYTES = 32
const SEGMENT = /^(?!\.{1,2}$)[A-Za-z0-9_.-]+$/
const HEADER_VALUE = /^[\x21-\x7e]+$/

/** Where the transit server is, and how to log in. */
export interface VaultTransitOptions {
  /**
   * Key of `hash`, at least 32 bytes (a string counts in UTF-8 bytes). Keep it as long as the hashes. Default: the
   * SHA-256 of the token, so that a new token orphans every stored hash.
   */
  readonly indexKey?: Uint8Array | string
  /** Timeout of each request in milliseconds, from connecting to the last byte; default 5000. */
  readonly timeoutMs?: number
  /** Where the transit engine is mounted; default `transit`. */
  readonly mount?: string
  /** Sent as `X-Vault-Namespace`. */
  readonly namespace?: string
  /** Called once when `hash` is used without an `indexKey`; default `process.emitWarning`. */
  readonly warn?: (message: string) => void
  /** Another `fetch`, for a private certificate authority or a proxy. It must honour `redirect: 'manual'`. */
  readonly fetch?: typeof fetch
}

export interface ResolvedTransit {
  readonly endpoint: string
  readonly token: string
  readonly namespace: string
  readonly timeoutMs: number
  readonly mount: string
  readonly indexKey: Buffer | undefined
  readonly warn: (message: string) => void
  readonly fetch: typeof fetch
}

/**
 * The arguments with all defaults.
 * @throws DeclarationError with everything that is wrong with them; the token is never in it.
 */
export function resolveTransit(
  addr: string,
  token: string,
  keyName: string,
  options: VaultTransitOptions,
): ResolvedTransit {
  const resolved = {
    endpoint: endpointOf(addr) ?? '',
    token,
    namespace: options.namespace ?? '',
    timeoutMs: options.timeoutMs ?? 5000,
    mount: options.mount ?? 'transit',
    indexKey: options.indexKey === undefined ? undefined : Buffer.from(options.indexKey),
    warn: options.warn ?? emitWarning,
    fetch: options.fetch ?? fetch,
  }
  const problems = problemsOf(resolved, keyName)
  if (problems.length > 0) throw new DeclarationError('newVaultTransit', problems)
  return resolved
}

function problemsOf(transit: ResolvedTransit, keyName: string): string[] {
  const { endpoint, token, namespace, timeoutMs, mount, indexKey } = transit
  const problems: string[] = []
  if (endpoint === '') {
    problems.push('addr: an http:// or https:// address without user, query and fragment is needed')
  }
  if (!matches(token, HEADER_VALUE)) problems.push('token: it is empty or has characters no header can carry')
  if (!matches(keyName, SEGMENT)) problems.push('keyName: one or more of A-Z a-z 0-9 _ . - (not . or ..)')
  if (!mount.split('/').every((segment) => SEGMENT.test(segment))) {
    problems.push('mount: segments of A-Z a-z 0-9 _ . - joined by /')
  }
  if (namespace !== '' && !HEADER_VALUE.test(namespace)) problems.push('namespace: no header can carry it')
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > 600_000) {
    problems.push('timeoutMs: a whole number of milliseconds from 1 to 600000')
  }
  if (indexKey !== undefined && indexKey.length < MIN_INDEX_KEY_BYTES) {
    problems.push(`indexKey: at least ${MIN_INDEX_KEY_BYTES} bytes`)
  }
  return problems
}

/** A value that is not a string, such as an unset variable, would otherwise match as 'undefined'. */
const matches = (value: unknown, pattern: RegExp): boolean => typeof value === 'string' && pattern.test(value)

/** Origin and path without a trailing slash; undefined for text that is not a server's address. */
function endpointOf(addr: string): string | undefined {
  if (!URL.canParse(addr)) return undefined
  const url = new URL(addr)
  const isHttp = url.protocol === 'http:' || url.protocol === 'https:'
  const isBare = url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  return isHttp && isBare ? (url.origin + url.pathname).replace(/\/+$/, '') : undefined
}

const emitWarning = (message: string): void =>
  process.emitWarning(message, { type: 'AshlarWarning', code: 'ASHLAR_TRANSIT_INDEX_KEY' })
