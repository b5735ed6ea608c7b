import { DeclarationError, inEntity, problem } from '../../errors.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { TableName } from '../dialects/catalog/table-definition.js'
import type { Database, Executor, RunOptions } from '../engines/executor/executor.js'
import { named } from '../engines/executor/named.js'
import { unlessAborted } from '../engines/executor/unless-aborted.js'
import { identifyingColumns } from './identifying-columns.js'

/** A check that takes longer is shared with no further call: its connection may be dead. */
const SLOW_MS = 1000

/**
 * Checks once that the database compares identifying columns exactly. If it took `ACME` for `acme`, or
 * padded, tenant `ACME` would read the rows of `acme`.
 */
export class CollationCheck {
  /** Whether `run` must still be awaited. */
  isPending = true
  #shared: { readonly since: number; readonly running: Promise<void> } | undefined

  constructor(
    private readonly model: ResourceModel,
    private readonly table: TableName,
    private readonly database: Database,
  ) {}

  /**
   * Calls outside of transactions that come at the same time wait for one check.
   * @param on - the transaction of the call, if any: another connection may not be available.
   * @throws DeclarationError with every column that is compared differently. A missing table passes.
   */
  run(on: Executor, options: RunOptions): Promise<void> {
    return on === this.database ? unlessAborted(this.#once(), options.signal) : this.#check(on, options)
  }

  #once(): Promise<void> {
    const now = performance.now()
    if (this.#shared !== undefined && now - this.#shared.since < SLOW_MS) return this.#shared.running
    const running = this.#check(this.database).finally(() => {
      if (this.#shared?.running === running) this.#shared = undefined
    })
    this.#shared = { since: now, running }
    return running
  }

  async #check(on: Executor, options?: RunOptions): Promise<void> {
    const inexact = await on.dialect.inexactColumns(
      async (text, values) => (await on.run(named(text), values, options)).rows,
      this.table,
      identifyingColumns(this.model, on.dialect),
    )
    if (inexact === undefined) return
    const problems = inexact.map(({ column, what, advice }) =>
      problem(
        'collation',
        `${this.model.fields.find((field) => field.column === column)?.proto} has the ${what}, which takes different texts for the same`,
        advice,
      ),
    )
    if (problems.length > 0)
      throw new DeclarationError(this.model.entity.name, inEntity(this.model.entity, problems))
    this.isPending = false
  }
}
