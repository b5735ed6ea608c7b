import type { HashSpec } from './hash-spec.js'

/** The stored part of a credential: enough to verify it, not enough to recover it. */
export interface StoredCredential {
  /** Unique across all tenants. A presented token is looked up by it. */
  readonly publicId: string
  /** Standard base64 with padding. */
  readonly salt: string
  /** The hash of the salt's bytes followed by the secret's bytes, in standard base64 with padding. */
  readonly hash: string
  readonly spec: HashSpec
}
