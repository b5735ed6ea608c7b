import type { RowCall } from './row-call.js'

/** Identifies a row, live or deleted. */
export interface CipherKey {
  readonly key: string
  /** Undefined if the resource has no tenant. */
  readonly tenant: string | undefined
}

/** The ciphertexts of a row, in the order of the model's secrets. Undefined for secrets that are not set. */
export interface CipherRow extends CipherKey {
  readonly ciphers: readonly (string | undefined)[]
}

/**
 * Reads and replaces the ciphertexts of secrets. The entity does not change: no time, no etag, no event, no
 * hook.
 */
export interface CipherRows<C extends RowCall> {
  /**
   * Returns rows with a secret in the order of the primary key, including deleted ones.
   *
   * @param tenant - undefined for all tenants.
   */
  page(
    call: C,
    tenant: string | undefined,
    after: CipherKey | undefined,
    size: number,
  ): Promise<readonly CipherRow[]>
  /**
   * Replaces a ciphertext. Returns true if the row still had the ciphertext `from`.
   *
   * @param index - the index of the secret in the model.
   */
  replace(call: C, row: CipherKey, index: number, from: string, to: string): Promise<boolean>
}
