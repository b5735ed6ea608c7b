import { partIn } from '../../resource/keys/key-part.js'
import type { Field } from '../../resource/fields/field.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import { CREDENTIAL_TENANTS } from '../dialects/citus/citus.js'
import type { CredentialRow } from '../contract/credential-check.js'
import type { Reach } from '../contract/scope.js'
import type { Database, Executor, RunOptions, Statement } from '../engines/executor/executor.js'
import { sqlText } from '../engines/sql-text.js'
import type { SqlCall } from './row-call.js'
import type { Target } from './row-target.js'
import type { Batches, Finds, GetOptions, Rows, RowWrite } from './rows.js'

/**
 * A table on the coordinator with the tenant of each public id. A unique index across all tenants cannot be
 * distributed, and without this table a lookup would query every server.
 */
export class CredentialTenants {
  readonly #insert: Statement
  readonly #find: Statement

  constructor(database: Database) {
    const { table, statement } = sqlText(database)
    const name = table(CREDENTIAL_TENANTS)
    this.#insert = statement(`INSERT INTO ${name} (public_id, tenant) VALUES (?, ?)`)
    this.#find = statement(`SELECT tenant FROM ${name} WHERE public_id = ?`)
  }

  async add(on: Executor, publicId: string, tenant: string, options: RunOptions): Promise<void> {
    await on.run(this.#insert, [publicId, tenant], options)
  }

  async tenantOf(on: Executor, publicId: string, options?: RunOptions): Promise<string | undefined> {
    const { rows } = await on.run(this.#find, [publicId], options)
    return rows[0]?.[0] as string | undefined
  }
}

/** Stores the tenants of new credentials in the transaction of their row, if tables are distributed. */
export class CredentialRows<E extends object> implements Rows<E> {
  constructor(
    private readonly next: Rows<E>,
    private readonly model: ResourceModel<E>,
    private readonly database: Database,
    private readonly tenants: CredentialTenants,
  ) {}

  get insertsAtOnce(): boolean {
    return this.next.insertsAtOnce && this.database.isDistributed !== true
  }

  batches(tenant: string | undefined, patches: Parameters<Rows<E>['batches']>[1]): Batches<E> | undefined {
    return this.next.batches(tenant, patches)
  }

  get(call: SqlCall, row: Target, how?: GetOptions): Promise<E | undefined> {
    return this.next.get(call, row, how)
  }

  async insert(call: SqlCall, write: RowWrite): Promise<E> {
    const entity = await this.next.insert(call, write)
    await this.#add(call, write, entity)
    return entity
  }

  async update(call: SqlCall, write: RowWrite): Promise<E | undefined> {
    const entity = await this.next.update(call, write)
    if (entity !== undefined) await this.#add(call, write, entity)
    return entity
  }

  delete(call: SqlCall, write: RowWrite): Promise<boolean> {
    return this.next.delete(call, write)
  }

  undelete(call: SqlCall, write: RowWrite): Promise<E | undefined> {
    return this.next.undelete(call, write)
  }

  batchGet(call: SqlCall, keys: readonly string[], reach: Reach, how?: GetOptions): Promise<E[]> {
    return this.next.batchGet(call, keys, reach, how)
  }

  async #add(call: SqlCall, { row, values }: RowWrite, entity: E): Promise<void> {
    const { tenant, credentials } = this.model
    if (tenant === undefined || call.on.isDistributed !== true) return
    for (const { publicId } of credentials) {
      const id = values[publicId.property]
      if (typeof id === 'string')
        await this.tenants.add(call.on, id, row.tenant ?? partIn(tenant, entity), call)
    }
  }
}

/** Finds a credential's row on the server of its tenant, if tables are distributed. */
export class CredentialFinds<E extends object> implements Finds<E> {
  constructor(
    private readonly next: Finds<E>,
    private readonly model: ResourceModel<E>,
    private readonly tenants: CredentialTenants,
  ) {}

  async find(call: SqlCall, field: Field, value: string, reach: Reach): Promise<readonly CredentialRow<E>[]> {
    const { tenant, credentials } = this.model
    const isOfAny = tenant !== undefined && reach.tenant === undefined
    if (call.on.isDistributed !== true || !isOfAny || !credentials.some(({ publicId }) => publicId === field))
      return this.next.find(call, field, value, reach)
    const owner = await this.tenants.tenantOf(call.on, value, call)
    return owner === undefined ? [] : this.next.find(call, field, value, { ...reach, tenant: owner })
  }
}
