import { DeclarationError, problem, type Problem } from '../../errors.js'

const MIN_INDEX_KEY_BYTES = 32
const SEGMENT = /^(?!\.{1,2}$)[A-Za-z0-9_.-]+$/
export const HEADER_VALUE = /^[\x21-\x7e]+$/

/**
 * A token, or a function that returns one. The function is called at the first call, when the server rejects
 * the previous token, and before that token expires. It has `timeoutMs` to respond. After that its signal
 * aborts, its result is dropped, and the next call invokes it again.
 */
export type TokenSource = string | ((options: { readonly signal: AbortSignal }) => string | Promise<string>)

/** The login and the connection to a transit server. */
export interface VaultTransitOptions {
  /**
   * The key of `hash`, at least 32 bytes; a string counts in UTF-8 bytes. It must be kept as long as the
   * hashes are used. Default: the SHA-256 of the token, so that a new token would orphan every stored hash.
   * Required if the token can change.
   */
  readonly indexKey?: Uint8Array | string
  /**
   * A file that contains the token, such as an agent's sink. The argument `token` must then be `''`. When the
   * file changes, the new token is used.
   */
  readonly tokenFile?: string
  /** The timeout of each request in milliseconds, from connecting to the last byte. Default: 5000. */
  readonly timeoutMs?: number
  /** The mount path of the transit engine. Default: `transit`. */
  readonly mount?: string
  /** The namespace, sent as `X-Vault-Namespace`. */
  readonly namespace?: string
  /**
   * Called when a token expires and cannot be renewed, when the server rejects calls (at most once per
   * operation, status and minute), and once if `hash` is used without an `indexKey`. Default:
   * `process.emitWarning`.
   */
  readonly warn?: (message: string) => void
  /**
   * A `fetch` to use instead of the node:http client, for a private certificate authority or a proxy. It must
   * support `redirect: 'manual'`. It takes about three times as much processor time.
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
 * Returns the arguments with all defaults.
 *
 * @throws DeclarationError with every problem of the arguments. It never contains the token.
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
      problem('option', 'addr: must be an http:// or https:// address without user, query and fragment'),
    )
  }
  if (tokenFile !== undefined && (tokenFile === '' || token !== ''))
    problems.push(problem('option', "tokenFile: must be a file path, with '' as token"))
  else if (typeof token !== 'function' && token !== '' && !matches(token, HEADER_VALUE))
    problems.push(problem('option', 'token: must be a string that a header can carry, or a function'))
  if (indexKey === undefined && (typeof token === 'function' || token === ''))
    problems.push(
      problem('option', 'indexKey: required without a fixed token, because hashes are keyed on it'),
    )
  if (!matches(keyName, SEGMENT))
    problems.push(problem('option', 'keyName: one or more of A-Z a-z 0-9 _ . - (not . or ..)'))
  if (!mount.split('/').every((segment) => SEGMENT.test(segment))) {
    problems.push(problem('option', 'mount: must be segments of A-Z a-z 0-9 _ . - separated by /'))
  }
  if (namespace !== '' && !HEADER_VALUE.test(namespace))
    problems.push(problem('option', 'namespace: contains characters that a header cannot carry'))
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > 600_000) {
    problems.push(problem('option', 'timeoutMs: must be an integer from 1 to 600000 (milliseconds)'))
  }
  if (indexKey !== undefined && indexKey.length < MIN_INDEX_KEY_BYTES) {
    problems.push(problem('option', `indexKey: must have at least ${MIN_INDEX_KEY_BYTES} bytes`))
  }
  return problems
}

/**
 * Returns true for a string that matches the pattern. Without the type check, an unset variable would match
 * as 'undefined'.
 */
const matches = (value: unknown, pattern: RegExp): boolean => typeof value === 'string' && pattern.test(value)

/**
 * Returns the origin and path without a trailing slash, or undefined if the string is not a server's address.
 */
function endpointOf(addr: string): string | undefined {
  if (!URL.canParse(addr)) return undefined
  const url = new URL(addr)
  const isHttp = url.protocol === 'http:' || url.protocol === 'https:'
  const isBare = url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  return isHttp && isBare ? (url.origin + url.pathname).replace(/\/+$/, '') : undefined
}

const emitWarning = (message: string): void =>
  process.emitWarning(message, { type: 'AshlarWarning', code: 'ASHLAR_TRANSIT' })
