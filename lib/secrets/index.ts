/**
 * Encryptors for secrets, and the minter of credentials.
 * @module
 */
export { ErrNoEncryptor, ErrNoMinter, SecretUnreadable, TransitError } from '../errors.js'
export {
  CredentialMinter,
  type CredentialOptions,
  DefaultPrefix,
  DefaultSecretBits,
  type MintedCredential,
  type MinterOptions,
  type ParsedToken,
} from './credential-minter.js'
export { type DevEncryptor, newDev } from './dev-encryptor.js'
export { encryptorCheck } from './encryptor-check.js'
export type { Encryptor, EncryptorOptions, RewrapOptions } from './encryptor.js'
export { AlgoSHA384, AlgoSHA512_256, type HashSpec } from './hash-spec.js'
export type { StoredCredential } from './stored-credential.js'
export type { TokenSource, VaultTransitOptions } from './vault/transit-options.js'
export { newVaultTransit, type VaultTransit } from './vault-transit.js'
