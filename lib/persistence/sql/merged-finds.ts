import { partIn } from '../../resource/keys/key-part.js'
import type { Field } from '../../resource/fields/field.js'
import type { CredentialRow } from '../contract/credential-check.js'
import type { Row } from '../engines/executor/executor.js'
import { MergedReads } from '../merging/merged-calls.js'
import { statementOfSeveral } from '../merging/statement-of-several.js'
import { isStorable } from '../query/reachable.js'
import type { SqlCall } from '../rows/row-call.js'
import type { Reach } from '../rows/row-target.js'
import type { Finds } from '../rows/rows.js'
import type { MergingParts } from './merged-rows.js'
import { credentialRowOf } from './row-codec.js'
import type { RowStore } from './row-store.js'

/**
 * Lookups of secrets and credentials that share a statement with others, outside of transactions and without
 * a further condition. It is beside the RowStore, which it needs; all else of merging is in `merging/`.
 */
export class MergedFinds<E extends object> implements Finds<E> {
  readonly #finds = new Map<string, MergedReads<CredentialRow<E>>>()

  constructor(
    private readonly store: RowStore<E>,
    private readonly parts: MergingParts,
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

  /** A credential's verifier reads the tenant from the row. The public id is unique across tenants. */
  #isOfAnyTenant(field: Field): boolean {
    return this.store.model.credentials.some(({ publicId }) => publicId === field)
  }

  /** @param isOfTenant - whether only the rows of the caller's tenant are searched. */
  #findsBy(by: Field, isOfTenant: boolean): MergedReads<CredentialRow<E>> {
    const name = `${by.property} ${isOfTenant}`
    const known = this.#finds.get(name)
    if (known !== undefined) return known
    const { database, merging, rules, statements } = this.parts
    const { model, hydrateBehind } = this.store
    const tenant = isOfTenant ? model.tenant : undefined
    const hydrate = (row: Row) => hydrateBehind([undefined, ...row])
    const shape = { by, tenant, selected: model.fields, isFirst: true }
    const merged = new MergedReads<CredentialRow<E>>(database, {
      name: `${model.entity.name} by ${by.property}`,
      alone: async (sought, call) =>
        (await this.store.find(call, by, sought.value, { tenant: sought.tenant }))[0],
      ...statementOfSeveral(
        merging,
        rules,
        () => rules.mayRead(tenant === undefined ? [by] : [by, tenant]),
        () => statements.read(shape),
      ),
      valuesOf: (sought) => [
        by === model.key ? this.store.key.bind(sought.value) : sought.value,
        ...(sought.tenant === undefined ? [] : [this.store.tenant.bind(sought.tenant)]),
      ],
      soughtIn: ({ columns, entity }) => ({
        value: by === model.key ? model.keys.textOf(entity) : (columns[by.property] as string),
        tenant: tenant && partIn(tenant, entity),
      }),
      read: (row) => credentialRowOf(model, row.slice(1), hydrate),
    })
    this.#finds.set(name, merged)
    return merged
  }
}
