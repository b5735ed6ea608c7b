import type { DataSource } from 'typeorm'
import { DeclarationError, inEntity, problem, type Problem } from '../../errors.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import { inexactText } from '../dialects/catalog/inexact-columns.js'
import type { TableName } from '../dialects/catalog/table-definition.js'
import type { Database, Executor, RunOptions } from '../engines/executor/executor.js'
import { named } from '../engines/executor/named.js'
import { unlessAborted } from '../engines/executor/unless-aborted.js'
import { identifyingColumns } from './identifying-columns.js'
import { tableNameOf } from './table-name-of.js'

/** Calls do not join a check that takes longer, because its connection may be dead. */
const SLOW_MS = 1000

/** The resources whose columns compare exactly. Checks of related resources skip them. */
const exact = new WeakMap<DataSource, Set<ResourceModel>>()

/**
 * Checks once that the database compares identifying columns exactly, in the table of a resource and in
 * tables that its statements reach through relations. If the database considered `ACME` and `acme` equal, or
 * ignored trailing spaces, tenant `ACME` could read the rows of `acme`.
 */
export class CollationCheck {
  /** True while `run` must still be awaited. */
  isPending = true
  #shared: { readonly since: number; readonly running: Promise<void> } | undefined

  constructor(
    private readonly model: ResourceModel,
    private readonly table: TableName,
    private readonly database: Database,
    /** Returns the resources of the other tables. */
    private readonly relatives: () => readonly ResourceModel[],
  ) {}

  /**
   * Runs the check. Concurrent calls outside transactions share one check.
   *
   * @param on - the transaction of the call, if any, because another connection may not be available.
   * @throws DeclarationError with every column that compares differently. A missing table passes.
   */
  run(on: Executor, options: RunOptions): Promise<void> {
    return on === this.database ? unlessAborted(this.#once(), options.signal) : this.#check(on, options)
  }

  /**
   * Returns the problems of the resource's columns that compare differently. Empty if the table is missing.
   */
  async problems(options: RunOptions): Promise<readonly Problem[]> {
    return (await inexactColumns(this.model, this.table, this.database, options)) ?? []
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
    const { dataSource } = this.database
    const known = exact.get(dataSource) ?? new Set()
    exact.set(dataSource, known)
    let isMissing = false
    for (const model of [this.model, ...this.relatives().filter((one) => !known.has(one))]) {
      const table = model === this.model ? this.table : tableNameOf(model, on.dialect, dataSource)
      const problems = await inexactColumns(model, table, on, options)
      if (problems === undefined) isMissing = true
      else if (problems.length > 0)
        throw new DeclarationError(model.entity.name, inEntity(model.entity, problems))
      else known.add(model)
    }
    this.isPending = isMissing
  }
}

/** Returns the columns of a table that compare differently, or undefined if the table is missing. */
async function inexactColumns(
  model: ResourceModel,
  table: TableName,
  on: Executor,
  options: RunOptions | undefined,
): Promise<readonly Problem[] | undefined> {
  const inexact = await on.dialect.catalog.inexactColumns(
    async (text, values) => (await on.run(named(text), values, options)).rows,
    table,
    identifyingColumns(model, on.dialect),
  )
  return inexact?.map((one) =>
    problem(
      'collation',
      `${model.fields.find((field) => field.column === one.column)?.proto} ${inexactText(one)}`,
      one.advice,
    ),
  )
}
