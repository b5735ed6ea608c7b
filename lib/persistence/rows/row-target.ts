import type { Field } from '../../resource/fields/field.js'
import { keyPartOf, partIn } from '../../resource/keys/key-part.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Values } from '../contract/new-entity.js'
import type { Precondition } from '../contract/precondition.js'
import type { Reach } from '../contract/scope.js'

/** Which row a statement reaches. */
export interface Target extends Reach {
  /** Its canonical text. */
  readonly key: string
  readonly precondition?: Precondition | undefined
}

/** A new row. */
export const targetOf = ({ keys, tenant }: ResourceModel, values: Readonly<Values>): Target => ({
  key: keys.textOf(values),
  tenant: tenant && partIn(tenant, values),
})

/** In the order of their tenants, as ORDER BY has it. @param tenant - its field. */
export const byTenant = (tenant: Field, a: Pick<Reach, 'tenant'>, b: Pick<Reach, 'tenant'>): number =>
  keyPartOf(tenant).compare(a.tenant ?? '', b.tenant ?? '')
