import type { HashSpec } from './hash-spec.js'

/** The stored part of a credential. It is sufficient to verify the secret, but not to recover it. */
export interface StoredCredential {
  /** The public id, unique across all tenants, by which a presented token is looked up. */
  readonly publicId: string
  /** The salt in standard base64 with padding. */
  readonly salt: string
  /** The hash of the salt's bytes followed by the secret's bytes, in standard base64 with padding. */
  readonly hash: string
  readonly spec: HashSpec
}
