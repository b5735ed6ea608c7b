import { createHash, createHmac, createSecretKey } from 'node:crypto'
import { TransitError } from '../errors.js'
import { abortError } from '../bounds/abort-error.js'
import { decodeBase64 } from './encoding/base64.js'
import type { Encryptor, EncryptorOptions, RewrapOptions } from './encryptor.js'
import { checkPlaintext, toPlaintext } from './plaintext.js'
import { batchResultsOf, chunksOf } from './transit-batch.js'
import { resolveTransit, type TokenSource, type VaultTransitOptions } from './vault/transit-options.js'
import { vaultClient } from './vault/vault-client.js'

/** An encryptor whose keys never leave a Vault or OpenBao server. */
export interface VaultTransit extends Required<Encryptor> {
  readonly development: false
  /**
   * Encrypts the secret with the key's latest version. The plaintext never leaves the server. Does not
   * support associated data.
   */
  rewrap(ciphertext: string, options?: RewrapOptions): Promise<string>
  /**
   * Re-encrypts ciphertexts with the newest key without exposing the plaintext. Results are in the order of
   * the arguments.
   *
   * @throws TransitError
   */
  rewrapBatch(ciphertexts: readonly string[], options?: RewrapOptions): Promise<string[]>
  /** Closes the connections and stops renewing and following the token. */
  close(): Promise<void>
}

/**
 * Returns an encryptor that uses the transit engine of the server at `addr`. A call whose response does not
 * have status 200 rejects with a TransitError that contains status and body. Redirects are not followed, and
 * environment variables are not read.
 *
 * @param token - a token whose policy allows encrypt, decrypt and rewrap on the key, or a function that
 *   returns one, such as from a login. Pass `''` if an agent adds its own token, or with `tokenFile`. A
 *   renewable token is renewed at two
 * thirds of its lifetime.
 * @param keyName - an existing transit key.
 * @throws DeclarationError with every problem of the arguments, before any request.
 * @example
 * ```ts
 * import { newVaultTransit } from 'ashlar'
 *
 * const { TRANSIT_TOKEN = '', INDEX_KEY = '' } = process.env
 * const encryptor = newVaultTransit('https://vault.example.com', TRANSIT_TOKEN, 'webhook-secrets', {
 *   indexKey: Buffer.from(INDEX_KEY, 'hex'),
 * })
 * ```
 */
export function newVaultTransit(
  addr: string,
  token: TokenSource,
  keyName: string,
  options: VaultTransitOptions = {},
): VaultTransit {
  const { mount, indexKey, warn, ...config } = resolveTransit(addr, token, keyName, options)
  const client = vaultClient({ ...config, warn })
  const hashKey = createSecretKey(indexKey ?? createHash('sha256').update(String(token)).digest())
  const warnOnce = indexKey === undefined ? once(warn) : () => undefined

  const call = (
    operation: Operation,
    body: object,
    secrets: readonly string[],
    callOptions: EncryptorOptions,
    offset = 0,
  ) =>
    client.post({
      path: `${mount}/${operation}/${keyName}`,
      operation,
      body: { ...body },
      secrets,
      offset,
      signal: callOptions.signal,
    })

  const one = async (operation: Operation, text: string, callOptions: EncryptorOptions): Promise<string> => {
    const kind = KINDS[operation]
    const item = kind.toItem(text, callOptions)
    try {
      return kind.fromItem(await call(operation, item, kind.secrets([text]), callOptions), operation)
    } catch (error) {
      // A batch with one item shows if the item or the server failed.
      if (!(error instanceof TransitError) || error.statusCode !== 500) throw error
      const [result] = await many(operation, [text], callOptions)
      return result as string
    }
  }

  const many = async (
    operation: Operation,
    texts: readonly string[],
    callOptions: EncryptorOptions,
  ): Promise<string[]> => {
    const kind = KINDS[operation]
    const items = texts.map((text) => kind.toItem(text, callOptions))
    const results: string[] = []
    for (const [from, to] of chunksOf(texts, Object.keys(items[0] ?? {}).length)) {
      const secrets = kind.secrets(texts.slice(from, to))
      const data = await call(operation, { batch_input: items.slice(from, to) }, secrets, callOptions, from)
      const returned = batchResultsOf(data, operation, to - from, client.tokens, secrets, from)
      results.push(...returned.map((item) => kind.fromItem(item, operation)))
    }
    return results
  }

  return {
    development: false,
    close: () => client.close(),
    encrypt: (plaintext, callOptions = {}) => one('encrypt', plaintext, callOptions),
    decrypt: (ciphertext, callOptions = {}) => one('decrypt', ciphertext, callOptions),
    rewrap: (ciphertext, { signal } = {}) => one('rewrap', ciphertext, { signal }),
    encryptBatch: (plaintexts, callOptions = {}) => many('encrypt', plaintexts, callOptions),
    decryptBatch: (ciphertexts, callOptions = {}) => many('decrypt', ciphertexts, callOptions),
    check: async ({ signal } = {}) => {
      const ciphertext = await one('encrypt', CHECKED, { signal })
      const plaintext = await one('decrypt', ciphertext, { signal })
      if (plaintext !== CHECKED)
        throw new TransitError('check: decrypt returned another text', { statusCode: 200 })
    },
    rewrapBatch: (ciphertexts, { signal } = {}) => many('rewrap', ciphertexts, { signal }),
    hash: async (plaintext, { signal } = {}) => {
      if (signal?.aborted) throw abortError(signal)
      checkPlaintext(plaintext)
      warnOnce(
        'newVaultTransit: hash() is keyed on the token, so a new token orphans every stored hash: pass an indexKey',
      )
      return createHmac('sha256', hashKey).update(plaintext).digest('base64')
    },
  }
}

/** The string that is encrypted and decrypted for the check. */
const CHECKED = 'ashlar check'

type Operation = 'encrypt' | 'decrypt' | 'rewrap'

type Item = Readonly<Record<string, unknown>>

interface Kind {
  readonly toItem: (text: string, options: EncryptorOptions) => Item
  readonly fromItem: (item: Item, operation: Operation) => string
  /** Returns the strings of a request that an error must not repeat. */
  readonly secrets: (texts: readonly string[]) => readonly string[]
}

const CIPHERTEXT = /^vault:v\d+:./

const ciphertextOf = (item: Item, operation: Operation): string => {
  if (typeof item.ciphertext === 'string' && CIPHERTEXT.test(item.ciphertext)) return item.ciphertext
  throw new TransitError(`${operation}: the response has no 'ciphertext' of the form vault:v<version>:…`, {
    statusCode: 200,
  })
}

const KINDS: Readonly<Record<Operation, Kind>> = {
  encrypt: {
    toItem: (plaintext, options) => {
      checkPlaintext(plaintext)
      return { plaintext: toBase64(plaintext), ...bindingOf(options) }
    },
    fromItem: ciphertextOf,
    secrets: (plaintexts) => plaintexts,
  },
  decrypt: {
    toItem: (ciphertext, options) => ({ ciphertext, ...bindingOf(options) }),
    fromItem: (item, operation) => {
      const bytes = typeof item.plaintext === 'string' ? decodeBase64(item.plaintext) : undefined
      const plaintext = bytes === undefined ? undefined : toPlaintext(bytes)
      if (plaintext !== undefined) return plaintext
      throw new TransitError(`${operation}: the response has no 'plaintext' of UTF-8 text in base64`, {
        statusCode: 200,
      })
    },
    secrets: () => [],
  },
  rewrap: {
    toItem: (ciphertext) => ({ ciphertext }),
    fromItem: ciphertextOf,
    secrets: () => [],
  },
}

const bindingOf = ({ associatedData }: EncryptorOptions): Item =>
  associatedData === undefined ? {} : { associated_data: toBase64(associatedData) }

const toBase64 = (text: string): string => Buffer.from(text).toString('base64')

function once(warn: (message: string) => void): (message: string) => void {
  let isWarned = false
  return (message) => {
    if (isWarned) return
    isWarned = true
    warn(message)
  }
}
