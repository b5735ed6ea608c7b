import type { HashSpec } from './hash-spec.js'

/** What is kept of a credential: enough to verify it, nothing to get it back from. */
export interface StoredCredential {
  /** Unique over all tenants; what a presented token is looked up by. */
  readonly publicId: string
  /** Standard base64 with padding. */
  readonly salt: string
  /** Standard base64 with padding, of salt bytes then secret bytes. */
  readonly hash: string
  readonly spec: HashSpec
}
