import { DeclarationError, problem, type Problem } from '../../errors.js'

const MIN_INDEX_KEY_BYTES = 32
const SEGMENT = /^(?!\.{1,2}$)[A-Za-z0-9_.-]+$/
export const HEADER_VALUE = /^[\x21-\x7e]+$/

/**
 * A token, or a function that returns one: at the first call, when the server rejects the previous token, and
 * before that one ends. The function has `timeoutMs`; then its signal aborts, its result is dropped, and the
 * next call asks again.
 */
export type TokenSource = string | ((options: { readonly signal: AbortSignal }) => string | Promise<string>)

/** The address of the transit server, and its login. */
export interface VaultTransitOptions {
  /**
   * Key of `hash`, at least 32 bytes (a string counts in UTF-8 bytes). Keep it as long as the hashes.
   * Default: the SHA-256 of the token, so that a new token orphans every stored hash. A token that changes
   * needs one.
   */
  readonly indexKey?: Uint8Array | string
  /**
   * A file that holds the token, such as the sink of an agent; the argument `token` is then `''`. It is
   * followed: another token in it is used from then on.
   */
  readonly tokenFile?: string
  /** Timeout of each request in milliseconds, from connecting to the last byte; default 5000. */
  readonly timeoutMs?: number
  /** The mount path of the transit engine; default `transit`. */
  readonly mount?: string
  /** Sent as `X-Vault-Namespace`. */
  readonly namespace?: string
  /**
   * Called when a token ends and cannot be renewed, when the server rejects calls (at most once per
   * operation, status and minute), and once when `hash` is used without an `indexKey`. Default
   * `process.emitWarning`.
   */
  readonly warn?: (message: string) => void
  /**
   * A `fetch` in the place of the client of node:http, for a private certificate authority or a proxy. It
   * must honour `redirect: 'manual'`. It costs about three times the processor time.
   */
  readonly fetch?: typeof fetch
}

export interface ResolvedTransit {
  readonly endpoint: string
  readonly token: TokenSource
  readonly tokenFile: string | undefined
  readonly namespace: string
  readonly timeoutMs: number
  readonly mount: string
  readonly indexKey: Buffer | undefined
  readonly warn: (message: string) => void
  readonly fetch: typeof fetch | undefined
}

/**
 * The arguments with all defaults.
 * @throws DeclarationError with everything that is wrong with them; the token is never in it.
 */
export function resolveTransit(
  addr: string,
  token: TokenSource,
  keyName: string,
  options: VaultTransitOptions,
): ResolvedTransit {
  const resolved = {
    endpoint: endpointOf(addr) ?? '',
    token,
    tokenFile: options.tokenFile,
    namespace: options.namespace ?? '',
    timeoutMs: options.timeoutMs ?? 5000,
    mount: options.mount ?? 'transit',
    indexKey: options.indexKey === undefined ? undefined : Buffer.from(options.indexKey),
    warn: options.warn ?? emitWarning,
    fetch: options.fetch,
  }
  const problems = problemsOf(resolved, keyName)
  if (problems.length > 0) throw new DeclarationError('newVaultTransit', problems)
  return resolved
}

function problemsOf(transit: ResolvedTransit, keyName: string): Problem[] {
  const { endpoint, token, tokenFile, namespace, timeoutMs, mount, indexKey } = transit
  const problems: Problem[] = []
  if (endpoint === '') {
    problems.push(
      problem('option', 'addr: an http:// or https:// address without user, query and fragment is needed'),
    )
  }
  if (tokenFile !== undefined && (tokenFile === '' || token !== ''))
    problems.push(problem('option', "tokenFile: the path of a file, with '' as token"))
  else if (typeof token !== 'function' && token !== '' && !matches(token, HEADER_VALUE))
    problems.push(
      problem('option', 'token: it has characters no header can carry, or is neither a text nor a function'),
    )
  if (indexKey === undefined && (typeof token === 'function' || token === ''))
    problems.push(
      problem(
        'option',
        'indexKey: it is needed where no fixed token is given, because hashes are keyed on it',
      ),
    )
  if (!matches(keyName, SEGMENT))
    problems.push(problem('option', 'keyName: one or more of A-Z a-z 0-9 _ . - (not . or ..)'))
  if (!mount.split('/').every((segment) => SEGMENT.test(segment))) {
    problems.push(problem('option', 'mount: segments of A-Z a-z 0-9 _ . - joined by /'))
  }
  if (namespace !== '' && !HEADER_VALUE.test(namespace))
    problems.push(problem('option', 'namespace: no header can carry it'))
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > 600_000) {
    problems.push(problem('option', 'timeoutMs: a whole number of milliseconds from 1 to 600000'))
  }
  if (indexKey !== undefined && indexKey.length < MIN_INDEX_KEY_BYTES) {
    problems.push(problem('option', `indexKey: at least ${MIN_INDEX_KEY_BYTES} bytes`))
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
  process.emitWarning(message, { type: 'AshlarWarning', code: 'ASHLAR_TRANSIT' })
