import { partIn } from '../../resource/keys/key-part.js'
import type { Field } from '../../resource/fields/field.js'
import type { CredentialRow } from '../contract/credential-check.js'
import type { Row } from '../engines/executor/executor.js'
import { CoalescedReads } from '../coalescing/coalesced-calls.js'
import { statementOfSeveral } from '../coalescing/statement-of-several.js'
import { isStorable } from '../query/reachable.js'
import type { SqlCall } from '../rows/row-call.js'
import type { Reach } from '../contract/scope.js'
import type { Finds } from '../rows/rows.js'
import type { CoalescingParts } from './coalesced-rows.js'
import { credentialRowOf } from './row-codec.js'
import type { RowStore } from './row-store.js'

/**
 * Coalesces lookups of secrets and credentials that run outside transactions and without a further condition.
 * It depends on the RowStore; the rest of coalescing is in `coalescing/`.
 */
export class CoalescedFinds<E extends object> implements Finds<E> {
  readonly #finds = new Map<string, CoalescedReads<CredentialRow<E>>>()

  constructor(
    private readonly store: RowStore<E>,
    private readonly parts: CoalescingParts,
  ) {}

  async find(call: SqlCall, field: Field, value: string, reach: Reach): Promise<readonly CredentialRow<E>[]> {
    const { tenant, where } = reach
    const isOfTenant =
      (tenant === undefined) === (this.store.model.tenant === undefined) || this.#isOfAnyTenant(field)
    if (call.on !== this.parts.database || where !== undefined || !isOfTenant || !isStorable(value))
      return this.store.find(call, field, value, reach)
    const row = await this.#findsBy(field, tenant !== undefined).run({ value, tenant }, call)
    return row === undefined ? [] : [row]
  }

  /**
   * Returns true for a credential's public id, which is unique across tenants. The credential's verifier
   * reads the tenant from the row.
   */
  #isOfAnyTenant(field: Field): boolean {
    return this.store.model.credentials.some(({ publicId }) => publicId === field)
  }

  /**
   * Returns the coalesced lookups by a field.
   *
   * @param isOfTenant - limits the search to the caller's tenant.
   */
  #findsBy(by: Field, isOfTenant: boolean): CoalescedReads<CredentialRow<E>> {
    const name = `${by.property} ${isOfTenant}`
    const known = this.#finds.get(name)
    if (known !== undefined) return known
    const { database, coalescing, rules, statements } = this.parts
    const { model, hydrateBehind } = this.store
    const tenant = isOfTenant ? model.tenant : undefined
    const hydrate = (row: Row) => hydrateBehind([undefined, ...row])
    const shape = { by, tenant, selected: model.fields, isFirst: true }
    const coalesced = new CoalescedReads<CredentialRow<E>>(database, {
      name: `${model.entity.name} by ${by.property}`,
      alone: async (requested, call) =>
        (await this.store.find(call, by, requested.value, { tenant: requested.tenant }))[0],
      ...statementOfSeveral(
        coalescing,
        rules,
        () => rules.mayRead(tenant === undefined ? [by] : [by, tenant]),
        () => statements.read(shape),
      ),
      valuesOf: (requested) => [
        by === model.key ? this.store.key.bind(requested.value) : requested.value,
        ...(requested.tenant === undefined ? [] : [this.store.tenant.bind(requested.tenant)]),
      ],
      requestedIn: ({ columns, entity }) => ({
        value: by === model.key ? model.keys.textOf(entity) : (columns[by.property] as string),
        tenant: tenant && partIn(tenant, entity),
      }),
      read: (row) => credentialRowOf(model, row.slice(1), hydrate),
    })
    this.#finds.set(name, coalesced)
    return coalesced
  }
}
