import { ErrNoEncryptor, ErrNoMinter, InvalidArgument } from '../../errors.js'
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

/**
 * Who may abort. The signal is read only where there is something to protect, because the context of a call makes one when it is
 * first asked, and that costs as much as the rest of a small write.
 */
export interface Caller {
  readonly signal?: AbortSignal | undefined
}

/** Values of the columns behind secrets and credentials, and the tokens that are told once. */
export interface ProtectedSecrets {
  readonly columns: Values
  readonly tokens: Values
}

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
  caller: Caller,
): Promise<ProtectedSecrets> {
  if (model.secrets.length === 0 && model.credentials.length === 0) return NOTHING
  const columns: Values = await protectSecrets(
    model.secrets.filter(({ property }) => isGiven(input[property])),
    input,
    options,
    caller,
  )
  const tokens: Values = {}
  for (const { property } of model.credentials) {
    const minted = await mint(model, property, options, caller)
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
  caller: Caller,
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
    columns[hash.property] = await options.encryptor.hash(value, { signal: caller.signal })
    columns[cipher.property] = await options.encryptor.encrypt(value, { signal: caller.signal })
  }
  return columns
}

/** A fresh token for one credential, with its stored form. */
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

/** The plaintext behind a cipher column; undefined when no secret is set. */
export async function reveal(
  cipher: unknown,
  options: SecretOptions,
  caller: Caller,
): Promise<string | undefined> {
  if (typeof cipher !== 'string') return undefined
  if (options.encryptor === undefined) throw new ErrNoEncryptor()
  return options.encryptor.decrypt(cipher, { signal: caller.signal })
}
