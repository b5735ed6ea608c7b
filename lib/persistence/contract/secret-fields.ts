import type { RequestContext } from '../../context.js'
import { ErrNoEncryptor, ErrNoMinter, InvalidArgument, TransitError } from '../../errors.js'
import type { ResourceModel, SecretField } from '../../resource/resource-model.js'
import type { CredentialMinter } from '../../secrets/credential-minter.js'
import type { Encryptor } from '../../secrets/encryptor.js'
import { type SecretCaller, coalescedRequests } from '../../secrets/coalesced-requests.js'
import type { Values } from './new-entity.js'

/** Converts secrets and credentials to their stored form. */
export interface SecretOptions {
  /** Required by resources with a credential. */
  readonly minter?: CredentialMinter
  /** Required when a secret is written. */
  readonly encryptor?: Encryptor
}

/**
 * The call whose abort cancels the encryption. Read the signal only if there is something to protect: the
 * context creates it on first use, which takes as long as the rest of a small write.
 */
export interface Caller {
  readonly signal?: AbortSignal | undefined
}

/** The column values of secrets and credentials, and the tokens to be returned once. */
export interface ProtectedSecrets {
  readonly columns: Values
  readonly tokens: Values
}

/**
 * @throws ErrNoMinter if the resource has a credential but no minter.
 */
export function checkMinter(model: ResourceModel, options: SecretOptions): void {
  if (model.credentials.length > 0 && options.minter === undefined) throw new ErrNoMinter()
}

/**
 * Protects a new entity's secrets and mints a token for every credential. Values that the caller sent for a
 * credential are ignored.
 *
 * @throws ErrNoEncryptor if a secret is given without an encryptor.
 */
export async function protectNew(
  model: ResourceModel,
  input: Readonly<Values>,
  options: SecretOptions,
  context: RequestContext,
): Promise<ProtectedSecrets> {
  if (model.secrets.length === 0 && model.credentials.length === 0) return NOTHING
  const columns = await protectSecrets(
    model.secrets.filter(({ property }) => isGiven(input[property])),
    input,
    options,
    context,
  )
  const tokens: Values = {}
  for (const { property } of model.credentials) {
    const minted = await mint(model, property, options, context)
    Object.assign(columns, minted.columns)
    Object.assign(tokens, minted.tokens)
  }
  return { columns, tokens }
}

const NOTHING: ProtectedSecrets = Object.freeze({ columns: {}, tokens: {} })
const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== ''

/** The secrets of one entity to be written. */
export interface SecretWrite {
  readonly secrets: readonly SecretField[]
  readonly input: Readonly<Values>
}

/** Returns the columns of the secrets in an entity. An empty string clears a secret. */
export async function protectSecrets(
  secrets: readonly SecretField[],
  input: Readonly<Values>,
  options: SecretOptions,
  context: RequestContext,
): Promise<Values> {
  if (secrets.length === 0) return {}
  const encrypt = (texts: readonly string[], encryptor: Encryptor) =>
    Promise.all(
      texts.map((text, item) =>
        coalescedRequests(encryptor)
          .encrypt(text, context)
          .catch((error: unknown) => {
            throw error instanceof TransitError && error.item !== undefined ? error.atItem(item) : error
          }),
      ),
    )
  const [columns = {}] = await protectEach([{ secrets, input }], options, context, encrypt, (_, name) => name)
  return columns
}

/**
 * Protects the secrets of a batch's items, in one request if the encryptor accepts several strings.
 *
 * @throws an error that names the item in `requests`.
 */
export function protectBatch(
  writes: readonly SecretWrite[],
  options: SecretOptions,
  context: RequestContext,
): Promise<Values[]> {
  const { signal } = context
  const encrypt = async (texts: readonly string[], encryptor: Encryptor) => {
    if (texts.length > 1 && encryptor.encryptBatch !== undefined)
      return encryptor.encryptBatch(texts, { signal })
    const ciphers: string[] = []
    for (const text of texts) ciphers.push(await encryptor.encrypt(text, { signal }))
    return ciphers
  }
  return protectEach(writes, options, context, encrypt, (index, name) => `requests[${index}].${name}`)
}

/** A secret to protect and where its columns are written. */
interface Wanted {
  readonly text: string
  readonly secret: SecretField
  readonly columns: Values
  readonly name: string
}

async function protectEach(
  writes: readonly SecretWrite[],
  { encryptor }: SecretOptions,
  context: RequestContext,
  encrypt: (texts: readonly string[], encryptor: Encryptor) => Promise<readonly string[]>,
  nameOf: (index: number, name: string) => string,
): Promise<Values[]> {
  const wanted: Wanted[] = []
  const all = writes.map(({ secrets, input }, index) => {
    const columns: Values = {}
    for (const secret of secrets) {
      const text = input[secret.property]
      const name = nameOf(index, secret.proto)
      if (!isGiven(text)) columns[secret.hash.property] = columns[secret.cipher.property] = null
      else wanted.push({ text: textOf(text, name), secret, columns, name })
    }
    return columns
  })
  if (wanted.length === 0) return all
  if (encryptor === undefined) throw new ErrNoEncryptor()
  const prepared = context.kept(PREPARED)
  const asked = wanted.filter(({ text, secret, columns }) => {
    const stored = prepared?.take(encryptor, text)
    if (stored !== undefined) put(secret, columns, stored)
    return stored === undefined
  })
  if (asked.length === 0) return all
  const texts = asked.map(({ text }) => text)
  const { signal } = context
  const hashes = await Promise.all(texts.map((text) => encryptor.hash(text, { signal })))
  const ciphers = await encrypt(texts, encryptor).catch((error: unknown) => {
    throw named(error, asked)
  })
  for (const [index, { secret, columns }] of asked.entries()) {
    const [hash, cipher] = [hashes[index], ciphers[index]]
    if (hash === undefined || cipher === undefined)
      throw new TypeError('the encryptor returned fewer results than it received strings')
    put(secret, columns, { hash, cipher })
  }
  return all
}

function textOf(value: unknown, name: string): string {
  if (typeof value !== 'string') throw new InvalidArgument(name, 'must be a string')
  if (!value.isWellFormed())
    throw new InvalidArgument(name, 'contains half of a surrogate pair, which is not a character')
  return value
}

/** Replaces the item index in an encryptor's error by the name of the field. */
function named(error: unknown, asked: readonly Wanted[]): unknown {
  if (!(error instanceof TransitError) || error.item === undefined) return error
  const name = asked[error.item]?.name ?? ''
  const { body, statusCode, reason, item } = error
  if (!name.includes('[')) return error.forField(name)
  return new TransitError(`encrypt: ${name}: ${body}`, { body, reason, item, statusCode, field: name }, error)
}

function put({ hash, cipher }: SecretField, columns: Values, stored: StoredSecret): void {
  columns[hash.property] = stored.hash
  columns[cipher.property] = stored.cipher
}

interface StoredSecret {
  readonly hash: string
  readonly cipher: string
}

/** Secrets, by plaintext, that were protected before the call's transaction began. */
class PreparedSecrets {
  readonly #stored = new Map<Encryptor, Map<string, StoredSecret[]>>()

  add(encryptor: Encryptor, text: string, stored: StoredSecret): void {
    let texts = this.#stored.get(encryptor)
    if (texts === undefined) this.#stored.set(encryptor, (texts = new Map<string, StoredSecret[]>()))
    texts.set(text, [...(texts.get(text) ?? []), stored])
  }

  /**
   * Returns the next stored value of a plaintext, so that rows with the same secret have different stored
   * values. The values are retained because a transaction may run again.
   */
  take(encryptor: Encryptor, text: string): StoredSecret | undefined {
    const stored = this.#stored.get(encryptor)?.get(text)
    const next = stored?.shift()
    if (next !== undefined) stored?.push(next)
    return next
  }
}

/** Prepared secrets by the object that all contexts of a call share. */
const PREPARED = new WeakMap<object, PreparedSecrets>()

/**
 * An entity to write, and the fields to write. Without a mask or with an empty one, all fields are written.
 */
export interface EntityToWrite {
  readonly entity: object
  readonly fieldMask?: readonly string[]
}

/**
 * Protects the secrets of entities before they are written.
 *
 * @param isBatch - true if the entities belong to `requests`.
 */
export type PrepareSecrets = (
  entities: readonly EntityToWrite[],
  context: RequestContext,
  isBatch: boolean,
) => Promise<void>

/**
 * Protects the secrets that the call is about to write, so that its writes do not call the encryptor again.
 */
export async function prepareSecrets(
  model: ResourceModel,
  options: SecretOptions,
  ...[entities, context, isBatch]: Parameters<PrepareSecrets>
): Promise<void> {
  const { encryptor } = options
  if (encryptor === undefined || context.kept(PREPARED) !== undefined) return
  const given = entities.map(({ entity, fieldMask = [] }) => {
    const input = entity as Readonly<Values>
    const isWhole = fieldMask.length === 0 || fieldMask.includes('*')
    const isWritten = ({ property, proto }: SecretField) =>
      isGiven(input[property]) && (isWhole || fieldMask.includes(proto))
    return { secrets: model.secrets.filter(isWritten), input }
  })
  const all = isBatch
    ? await protectBatch(given, options, context)
    : await Promise.all(given.map(({ secrets, input }) => protectSecrets(secrets, input, options, context)))
  const prepared = new PreparedSecrets()
  for (const [index, { secrets, input }] of given.entries())
    for (const { property, hash, cipher } of secrets) {
      const columns = all[index] ?? {}
      const stored = { hash: columns[hash.property] as string, cipher: columns[cipher.property] as string }
      prepared.add(encryptor, input[property] as string, stored)
    }
  context.kept(PREPARED, prepared)
}

/** Mints a new token for a credential, and returns it with its stored form. */
export async function mint(
  model: ResourceModel,
  property: string,
  options: SecretOptions,
  caller: Caller,
): Promise<ProtectedSecrets> {
  const credential = model.credentials.find((candidate) => candidate.property === property)
  if (options.minter === undefined || credential === undefined) throw new ErrNoMinter()
  const { token, stored } = await options.minter.mint({ signal: caller.signal })
  const { publicId, salt, hash, hashspec } = credential
  const columns = {
    [publicId.property]: stored.publicId,
    [salt.property]: stored.salt,
    [hash.property]: stored.hash,
    [hashspec.property]: stored.spec.algo,
  }
  return { columns, tokens: { [property]: token } }
}

/** Returns the plaintext of a cipher column, or undefined if no secret is set. */
export async function reveal(
  cipher: unknown,
  options: SecretOptions,
  caller: SecretCaller,
): Promise<string | undefined> {
  // The Go framework stores an empty string if there is no secret.
  if (typeof cipher !== 'string' || cipher === '') return undefined
  if (options.encryptor === undefined) throw new ErrNoEncryptor()
  return coalescedRequests(options.encryptor).decrypt(cipher, caller)
}
