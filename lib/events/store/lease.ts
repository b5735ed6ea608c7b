import { randomUUID } from 'node:crypto'
import type { Database, Statement } from '../../persistence/engines/executor/executor.js'
import { sqlText } from '../../persistence/engines/sql-text.js'
import { prepareLog } from '../log/log-tables.js'

/**
 * A lease that one process per name holds until it expires. Time is the database's, because process clocks
 * differ.
 */
export class Lease {
  readonly owner = randomUUID()
  readonly #statements: ReturnType<typeof statementsFor>
  /** The end of the lease on this process's monotonic clock. It is never later than in the database. */
  #until = 0

  constructor(
    private readonly database: Database,
    private readonly name: string,
    private readonly ms: number,
  ) {
    this.#statements = statementsFor(database)
  }

  /** True if no other process can acquire the lease. */
  get isHeld(): boolean {
    return performance.now() < this.#until
  }

  /** Acquires the lease if it is free. */
  async acquire(): Promise<boolean> {
    await prepareLog(this.database)
    const { create, take } = this.#statements
    const { ms, name, owner } = this
    const asked = performance.now()
    const created = await this.database.run(create, [name, owner, ms])
    const isMine =
      created.affected === 1 || (await this.database.run(take, [owner, ms, name, owner])).affected === 1
    if (isMine) this.#until = asked + ms
    return isMine
  }

  /** Renews the lease until it is lost, or until the returned function is called. */
  keep(lost: () => void): () => void {
    const timer = setInterval(() => {
      this.#renew().then(
        (isMine) => {
          if (!isMine) this.#until = 0
          if (!this.isHeld) lost()
        },
        () => {
          if (!this.isHeld) lost()
        },
      )
    }, this.ms / 4)
    return () => clearInterval(timer)
  }

  /** Releases the lease. The remaining row stores when it was last held. */
  async release(): Promise<void> {
    this.#until = 0
    await this.database.run(this.#statements.release, [this.name, this.owner])
  }

  /** Deletes the lease completely. */
  async remove(): Promise<void> {
    this.#until = 0
    await this.database.run(this.#statements.remove, [this.name, this.owner])
  }

  async #renew(): Promise<boolean> {
    const asked = performance.now()
    const { affected } = await this.database.run(this.#statements.renew, [this.ms, this.name, this.owner])
    if (affected === 1) this.#until = asked + this.ms
    return affected === 1
  }
}

const statementsFor = (
  database: Database,
): Readonly<Record<'create' | 'take' | 'renew' | 'release' | 'remove', Statement>> => {
  const { insertNew, later, now, statement, table } = sqlText(database)
  const leases = table('outbox_leases')
  return {
    create: statement(insertNew(leases, ['name', 'owner', 'lease_until'], ['?', '?', later])),
    take: statement(
      `UPDATE ${leases} SET owner = ?, lease_until = ${later} WHERE name = ? AND (owner = ? OR lease_until <= ${now})`,
    ),
    renew: statement(`UPDATE ${leases} SET lease_until = ${later} WHERE name = ? AND owner = ?`),
    release: statement(`UPDATE ${leases} SET lease_until = ${now} WHERE name = ? AND owner = ?`),
    remove: statement(`DELETE FROM ${leases} WHERE name = ? AND owner = ?`),
  }
}
