import { DeclarationError, inEntity, problem } from '../../errors.js'
import type { Field } from '../../resource/fields/field.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { TableName } from '../dialects/catalog/table-definition.js'
import type { Database, Executor, RunOptions } from '../engines/executor/executor.js'
import { named } from '../engines/executor/named.js'
import { unlessAborted } from '../engines/executor/unless-aborted.js'

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
    const fields = columnsOf(this.model)
    const inexact = await on.dialect.inexactColumns(
      async (text, values) => (await on.run(named(text), values, options)).rows,
      this.table,
      fields.map((field) => {
        const kind = on.dialect.kinds[field.kind]
        const { exactAs } = kind
        return {
          column: field.column,
          type: kind.type(field),
          isExactAs: exactAs && ((type: string) => exactAs(field, type)),
        }
      }),
    )
    if (inexact === undefined) return
    const problems = inexact.map(({ column, what, advice }) =>
      problem(
        'collation',
        `${fields.find((field) => field.column === column)?.proto} has the ${what}, which takes different texts for the same`,
        advice,
      ),
    )
    if (problems.length > 0)
      throw new DeclarationError(this.model.entity.name, inEntity(this.model.entity, problems))
    this.isPending = false
  }
}

/** The columns that identify a row or its owner. */
const columnsOf = ({ key, tenant, secrets, credentials }: ResourceModel): Field[] =>
  [key, tenant, ...secrets.map(({ hash }) => hash), ...credentials.map(({ publicId }) => publicId)].filter(
    (field) => field !== undefined,
  )
