import type { DataSource } from 'typeorm'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { StartUpFindings } from '../contract/repository.js'
import type { TableName } from '../dialects/catalog/table-definition.js'
import type { Dialect } from '../dialects/dialect.js'

/** An entity in an initialized DataSource, and the table of its rows. */
export interface CheckedEntity {
  readonly dataSource: DataSource
  readonly model: ResourceModel
  readonly dialect: Dialect
  readonly table: TableName
}

export const NOTHING: StartUpFindings = { problems: [], warnings: [] }

export const warning = (text: string): StartUpFindings => ({ problems: [], warnings: [text] })

export const together = (all: readonly StartUpFindings[]): StartUpFindings => {
  const unfilled = all.flatMap((one) => one.unfilled ?? [])
  const unrestorable = all.flatMap((one) => one.unrestorable ?? [])
  return {
    problems: all.flatMap(({ problems }) => problems),
    warnings: all.flatMap(({ warnings }) => warnings),
    ...(unfilled.length > 0 && { unfilled }),
    ...(unrestorable.length > 0 && { unrestorable }),
  }
}

/** Returns the names that a catalog query selects. */
export async function namesIn(
  { dataSource }: CheckedEntity,
  text: string,
  values: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await dataSource.query<{ readonly name: string }[]>(text, [...values])
  return new Set(rows.map(({ name }) => name))
}
