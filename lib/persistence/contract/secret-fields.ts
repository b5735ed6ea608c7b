import { ErrConflict, ErrNoEncryptor, ErrNoMinter, InvalidArgument } from '../../errors.js'
import type { Field } from '../../resource/fields/field.js'
import type { ResourceModel, SecretField } from '../../resource/resource-model.js'
import type { CredentialMinter } from '../../secrets/credential-minter.js'
import type { Encryptor } from '../../secrets/encryptor.js'
import type { Values } from './new-entity.js'

/** The encryptor and the minter, which turn secrets and credentials into their stored form. */
export interface SecretOptions {
  /** Required by resources with a credential. */
  readonly minter?: CredentialMinter
  /** Required as soon as a secret is written. */
  readonly encryptor?: Encryptor
}

/** Values of the columns behind secrets and credentials, and the tokens that are told once. */
export interface ProtectedSecrets {
  readonly columns: Values
  readonly tokens: Values
}

/** 128 random bits practically never collide. Three collisions mean that the random source is broken. */
const ATTEMPTS = 3

/** @throws ErrNoMinter when the resource has a credential and there is no minter. */
export function checkMinter(model: ResourceModel, options: SecretOptions): void {
  if (model.credentials.length > 0 && options.minter === undefined) throw new ErrNoMinter()
}

/**
 * Protects the secrets that an entity is created with: a fresh token for every credential, whatever the caller sent for it.
 * @throws ErrNoEncryptor when a secret is given and there is no encryptor.
 */
export async function protectNew(
  model: ResourceModel,
  input: Readonly<Values>,
  options: SecretOptions,
  signal?: AbortSignal,
): Promise<ProtectedSecrets> {
  if (model.secrets.length === 0 && model.credentials.length === 0) return NOTHING
  const columns: Values = await protectSecrets(
    model.secrets.filter(({ property }) => isGiven(input[property])),
    input,
    options,
    signal,
  )
  const tokens: Values = {}
  for (const { property } of model.credentials) {
    const minted = await mint(model, property, options, signal)
    Object.assign(columns, minted.columns)
    Object.assign(tokens, minted.tokens)
  }
  return { columns, tokens }
}

const NOTHING: ProtectedSecrets = Object.freeze({ columns: {}, tokens: {} })
const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== ''

/** The columns of the secrets that an entity carries; `''` clears one. */
export async function protectSecrets(
  secrets: readonly SecretField[],
  input: Readonly<Values>,
  options: SecretOptions,
  signal?: AbortSignal,
): Promise<Values> {
  const columns: Values = {}
  for (const { property, proto, hash, cipher } of secrets) {
    const value = input[property]
    if (!isGiven(value)) {
      columns[hash.property] = columns[cipher.property] = null
      continue
    }
    if (typeof value !== 'string') throw new InvalidArgument(proto, 'has to be a string')
    if (options.encryptor === undefined) throw new ErrNoEncryptor()
    columns[hash.property] = await options.encryptor.hash(value, { signal })
    columns[cipher.property] = await options.encryptor.encrypt(value, { signal })
  }
  return columns
}

/** A fresh token for one credential, with its stored form. */
export async function mint(
  model: ResourceModel,
  property: string,
  options: SecretOptions,
  signal?: AbortSignal,
): Promise<ProtectedSecrets> {
  const credential = model.credentials.find((candidate) => candidate.property === property)
  if (options.minter === undefined || credential === undefined) throw new ErrNoMinter()
  const { token, stored } = await options.minter.mint({ signal })
  const { publicId, salt, hash, hashspec } = credential
  const columns = {
    [publicId.property]: stored.publicId,
    [salt.property]: stored.salt,
    [hash.property]: stored.hash,
    [hashspec.property]: stored.spec.algo,
  }
  return { columns, tokens: { [property]: token } }
}

/** The plaintext behind a cipher column; undefined when no secret is set. */
export async function reveal(
  cipher: unknown,
  options: SecretOptions,
  signal?: AbortSignal,
): Promise<string | undefined> {
  if (typeof cipher !== 'string') return undefined
  if (options.encryptor === undefined) throw new ErrNoEncryptor()
  return options.encryptor.decrypt(cipher, { signal })
}

/**
 * Runs a write that mints credentials, and again with fresh ones when a public id it minted was taken already. Any other
 * conflict is the caller's.
 * @param attempt - tells the columns it is about to write.
 */
export async function withFreshMint<T>(
  model: ResourceModel,
  attempt: (minted: (columns: Readonly<Values>) => void) => Promise<T>,
  isTaken: (field: Field, publicId: string) => Promise<boolean>,
): Promise<T> {
  if (model.credentials.length === 0) return attempt(() => {})
  for (let left = ATTEMPTS - 1; ; left--) {
    let columns: Readonly<Values> = {}
    try {
      return await attempt((values) => (columns = values))
    } catch (error) {
      if (left === 0 || !(error instanceof ErrConflict)) throw error
      let taken = false
      for (const { publicId } of model.credentials) {
        const value = columns[publicId.property]
        taken ||= typeof value === 'string' && (await isTaken(publicId, value))
      }
      if (!taken) throw error
    }
  }
}
