import type { HashSpec } from './hash-spec.js'

/** The stored part of a credential: enough to verify it, not enough to recover it. */
export interface StoredCredential {
  /** Unique across all tenants; a presented token is looked up by it. */
  readonly publicId: string
  /** Standard base64 with padding. */
  readonly salt: string
  /** Standard base64 with padding; the hash of salt bytes followed by secret bytes. */
  readonly hash: string
  readonly spec: HashSpec
}
