import type { RowCall } from './row-call.js'

/** Which row, whatever its state. */
export interface CipherKey {
  readonly key: string
  /** Undefined for a resource that belongs to no tenant. */
  readonly tenant: string | undefined
}

/** The cipher texts of a row, in the order of the model's secrets; undefined where none is set. */
export interface CipherRow extends CipherKey {
  readonly ciphers: readonly (string | undefined)[]
}

/**
 * Reads and replaces how secrets are encrypted, which changes nothing of their resources: no time, no etag,
 * no event, no hook.
 */
export interface CipherRows<C extends RowCall> {
  /**
   * Rows with a secret in the order of their primary key, deleted ones too. @param tenant - undefined for
   * every tenant.
   */
  page(
    call: C,
    tenant: string | undefined,
    after: CipherKey | undefined,
    size: number,
  ): Promise<readonly CipherRow[]>
  /** True if the row still had the cipher text `from`. @param index - of the secret in the model. */
  replace(call: C, row: CipherKey, index: number, from: string, to: string): Promise<boolean>
}
