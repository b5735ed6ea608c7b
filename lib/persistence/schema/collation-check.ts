import { DeclarationError } from '../../errors.js'
import type { Field } from '../../resource/fields/field.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { TableName } from '../dialects/catalog/table-definition.js'
import type { Executor, RunOptions } from '../engines/executor/executor.js'
import { named } from '../engines/executor/named.js'

/**
 * Makes sure, once, that the database compares the columns that tell rows apart exactly: where it takes `ACME` for `acme`, or
 * pads, tenant `ACME` would read the rows of `acme`.
 */
export class CollationCheck {
  /** Whether `run` still has to be awaited. */
  isPending = true

  constructor(
    private readonly model: ResourceModel,
    private readonly table: TableName,
  ) {}

  /**
   * @param on - the transaction of the call, where it has one: another connection may not be had meanwhile.
   * @throws DeclarationError with every column that is compared in another way. A table that is not there yet passes.
   */
  async run(on: Executor, options?: RunOptions): Promise<void> {
    const fields = columnsOf(this.model)
    const inexact = await on.dialect.inexactColumns(
      async (text, values) => (await on.run(named(text), values, options)).rows,
      this.table,
      fields.map(({ column }) => column),
    )
    if (inexact === undefined) return
    const problems = inexact.map(
      ({ column, what, advice }) =>
        `${fields.find((field) => field.column === column)?.proto} has the ${what}, which takes different texts for the same: ${advice}`,
    )
    if (problems.length > 0) throw new DeclarationError(this.model.entity.name, problems)
    this.isPending = false
  }
}

/** Those by which a row is found for somebody. */
const columnsOf = ({ key, tenant, secrets, credentials }: ResourceModel): Field[] =>
  [key, tenant, ...secrets.map(({ hash }) => hash), ...credentials.map(({ publicId }) => publicId)].filter(
    (field) => field !== undefined,
  )
