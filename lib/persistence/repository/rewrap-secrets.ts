import { ErrNoEncryptor, InvalidArgument } from '../../errors.js'
import { keyPartOf } from '../../resource/keys/key-part.js'
import type { Field } from '../../resource/fields/field.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Encryptor } from '../../secrets/encryptor.js'
import { mayBeOneItem } from '../../secrets/coalesced-requests.js'
import type { OperationOptions } from '../contract/repository.js'
import type { SecretOptions } from '../contract/secret-fields.js'
import type { CipherRow, CipherRows, CipherKey } from '../rows/cipher-rows.js'
import type { RowCall } from '../rows/row-call.js'
import type { Operations } from './operations.js'

/** Options of `rewrapSecrets`. */
export interface RewrapSecretsOptions extends OperationOptions {
  /**
   * The number of rows per page, from 1 to 1,000. Default: 200. Rows are locked while their page is written.
   */
  readonly batch?: number
  /** Called after each page. */
  readonly onProgress?: (progress: RewrapProgress) => void | Promise<void>
  /** The `after` of an earlier run. Continues after the rows of that run. */
  readonly after?: string
  /** Ends the run after the current page. */
  readonly signal?: AbortSignal
}

/** The progress of a run of `rewrapSecrets`. */
export interface RewrapProgress {
  /** The number of examined rows with a secret. */
  readonly rows: number
  /** The number of secrets that were encrypted with the newest key. */
  readonly rewrapped: number
  /** The number of secrets that other writers changed meanwhile. They were not overwritten. */
  readonly changed: number
  /** The number of secrets that the encryptor cannot decrypt. They were not changed. */
  readonly unreadable: number
  /** The position from which a later run can continue. Undefined before the first page. */
  readonly after: string | undefined
  /** True if every row was examined. */
  readonly isDone: boolean
}

/** Reads and writes the stored rows. */
export interface RewrapBackend<C extends RowCall> {
  readonly operations: Operations<C>
  readonly ciphers: CipherRows<C>
}

const DEFAULT_BATCH = 200
const MAX_ROWS = 1000

/** A ciphertext and its location. */
interface Stored {
  readonly row: CipherRow
  readonly index: number
  readonly cipher: string
}

/**
 * Encrypts stored secrets with the newest key, page by page. No transaction is open during calls of the
 * encryptor.
 */
export async function rewrapSecrets<C extends RowCall>(
  model: ResourceModel,
  { encryptor }: SecretOptions,
  { operations, ciphers }: RewrapBackend<C>,
  { batch = DEFAULT_BATCH, onProgress, after, signal, ...options }: RewrapSecretsOptions = {},
): Promise<RewrapProgress> {
  if (!Number.isInteger(batch) || batch < 1 || batch > MAX_ROWS)
    throw new RangeError(`rewrapSecrets: batch is a whole number from 1 to ${MAX_ROWS}`)
  let progress: RewrapProgress = { rows: 0, rewrapped: 0, changed: 0, unreadable: 0, after, isDone: false }
  if (model.secrets.length === 0) return { ...progress, isDone: true }
  if (encryptor === undefined) throw new ErrNoEncryptor()
  let place = after === undefined ? undefined : placeIn(model, after)
  while (!progress.isDone && signal?.aborted !== true) {
    const page = await operations.read('rewrapSecrets', options, ({ call, scope }) =>
      ciphers.page(call, scope.tenant, place, batch),
    )
    const stored = storedIn(page)
    const fresh = await rewrapped(encryptor, stored)
    const changes = stored.flatMap((one, index) => {
      const to = fresh[index]
      return to === undefined || isSameVersion(one.cipher, to) ? [] : [{ ...one, to }]
    })
    const written =
      changes.length === 0
        ? 0
        : await operations.write('rewrapSecrets', options, (operation) =>
            operation.send(
              async (call) => {
                let count = 0
                for (const { row, index, cipher, to } of changes)
                  if (await ciphers.replace(call, row, index, cipher, to)) count++
                return count
              },
              { isAtomic: true },
            ),
          )
    const last = page.at(-1)
    if (last !== undefined) place = last
    progress = {
      rows: progress.rows + page.length,
      rewrapped: progress.rewrapped + written,
      changed: progress.changed + changes.length - written,
      unreadable: progress.unreadable + fresh.filter((one) => one === undefined).length,
      after: place && placeText(place),
      isDone: page.length < batch,
    }
    await onProgress?.(progress)
  }
  return progress
}

/**
 * Returns the number of secrets per version of the encryption key, such as `{ 'vault:v1': 3, 'vault:v2': 40
 * }`. Ciphertexts without a version are counted under `''`.
 */
export async function secretVersions<C extends RowCall>(
  model: ResourceModel,
  { operations, ciphers }: RewrapBackend<C>,
  options?: OperationOptions,
): Promise<Readonly<Record<string, number>>> {
  const versions: Record<string, number> = {}
  if (model.secrets.length === 0) return versions
  for (let place: CipherKey | undefined, isDone = false; !isDone;) {
    const after = place
    const page = await operations.read('secretVersions', options, ({ call, scope }) =>
      ciphers.page(call, scope.tenant, after, MAX_ROWS),
    )
    for (const { cipher } of storedIn(page)) {
      const version = versionOf(cipher)
      versions[version] = (versions[version] ?? 0) + 1
    }
    place = page.at(-1)
    isDone = page.length < MAX_ROWS
  }
  return versions
}

const storedIn = (page: readonly CipherRow[]): readonly Stored[] =>
  page.flatMap((row) =>
    row.ciphers.flatMap((cipher, index) =>
      cipher === undefined || cipher === '' ? [] : [{ row, index, cipher }],
    ),
  )

/** Returns undefined for ciphertexts that cannot be decrypted. One failure does not affect the others. */
async function rewrapped(
  encryptor: Encryptor,
  stored: readonly Stored[],
): Promise<readonly (string | undefined)[]> {
  if (stored.length === 0) return []
  try {
    return await rewrapAll(
      encryptor,
      stored.map(({ cipher }) => cipher),
    )
  } catch (error) {
    if (!mayBeOneItem(error)) throw error
  }
  const fresh: (string | undefined)[] = []
  for (const { cipher } of stored)
    fresh.push(
      await rewrapAll(encryptor, [cipher]).then(
        ([one]) => one,
        (error: unknown) => {
          if (!mayBeOneItem(error)) throw error
          return undefined
        },
      ),
    )
  return fresh
}

async function rewrapAll(encryptor: Encryptor, texts: readonly string[]): Promise<readonly string[]> {
  if (encryptor.rewrapBatch !== undefined) return encryptor.rewrapBatch(texts)
  const plain =
    encryptor.decryptBatch === undefined
      ? await oneByOne(texts, (text) => encryptor.decrypt(text))
      : await encryptor.decryptBatch(texts)
  return encryptor.encryptBatch === undefined
    ? oneByOne(plain, (text) => encryptor.encrypt(text))
    : encryptor.encryptBatch(plain)
}

async function oneByOne(
  texts: readonly string[],
  work: (text: string) => Promise<string>,
): Promise<readonly string[]> {
  const results: string[] = []
  for (const text of texts) results.push(await work(text))
  return results
}

/** Returns the version of a ciphertext, such as `vault:v3` for `vault:v3:…`. */
const versionOf = (cipher: string): string => /^(?:[a-z]{1,20}:)?v\d{1,9}(?=:)/i.exec(cipher)?.[0] ?? ''

const isSameVersion = (a: string, b: string): boolean => versionOf(a) !== '' && versionOf(a) === versionOf(b)

const placeText = ({ key, tenant }: CipherKey): string => JSON.stringify([key, tenant])

/**
 * Parses the position of an earlier run.
 *
 * @throws InvalidArgument if the string is not a position of one of the resource's rows.
 */
function placeIn({ key: keyField, tenant: owner }: ResourceModel, text: string): CipherKey {
  let parts: unknown
  try {
    parts = JSON.parse(text)
  } catch {
    parts = undefined
  }
  const [key, tenant = null, ...others] = Array.isArray(parts) ? (parts as readonly unknown[]) : []
  const isOf = (field: Field, value: unknown): value is string =>
    typeof value === 'string' && keyPartOf(field).valueOf(value) !== undefined
  const isOfTenant = owner === undefined ? tenant === null : isOf(owner, tenant)
  if (!isOf(keyField, key) || !isOfTenant || others.length > 0)
    throw new InvalidArgument('after', 'is not the `after` of an earlier run')
  return { key, tenant: tenant === null ? undefined : (tenant as string) }
}
