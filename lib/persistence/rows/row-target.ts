import type { Field } from '../../resource/fields/field.js'
import { keyPartOf, partIn } from '../../resource/keys/key-part.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Values } from '../contract/new-entity.js'
import type { Precondition } from '../contract/precondition.js'
import type { Reach } from '../contract/scope.js'

/** The row that a statement reads or writes. */
export interface Target extends Reach {
  /** The key as a canonical string. */
  readonly key: string
  readonly precondition?: Precondition | undefined
}

/** Returns the target of a new row. */
export const targetOf = ({ keys, tenant }: ResourceModel, values: Readonly<Values>): Target => ({
  key: keys.textOf(values),
  tenant: tenant && partIn(tenant, values),
})

/**
 * Compares rows by tenant, in the order of ORDER BY.
 *
 * @param tenant - the tenant field.
 */
export const byTenant = (tenant: Field, a: Pick<Reach, 'tenant'>, b: Pick<Reach, 'tenant'>): number =>
  keyPartOf(tenant).compare(a.tenant ?? '', b.tenant ?? '')
