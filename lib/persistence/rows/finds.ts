import type { Field } from '../../resource/fields/field.js'
import type { CredentialRow } from '../contract/credential-check.js'
import type { RowCall, SqlCall } from './row-call.js'
import type { Reach } from './row-target.js'

/** Finds rows by what secrets and credentials are looked up by. */
export interface Finds<E, C extends RowCall = SqlCall> {
  /**
   * The live rows with this value, the first two by key, with the columns that are not part of the entity. Of any tenant when
   * none is given.
   */
  find(call: C, field: Field, value: string, reach: Reach): Promise<readonly CredentialRow<E>[]>
}
