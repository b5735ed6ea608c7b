import type { DataSource } from 'typeorm'
import type { Isolation } from '../contract/repository.js'

const ISOLATIONS: readonly Isolation[] = ['read committed', 'repeatable read', 'serializable']

/**
 * The `isolationLevel` of a DataSource, which its transactions have unless they say another; undefined where
 * it has none.
 */
export function declaredIsolation({ options }: DataSource): Isolation | undefined {
  return ISOLATIONS.find((each) => each === options.isolationLevel?.toLowerCase())
}

/** Why the `isolationLevel` of a DataSource is not carried out; undefined where it is. */
export function isolationProblem(dataSource: DataSource): string | undefined {
  const { isolationLevel } = dataSource.options
  if (isolationLevel === undefined || declaredIsolation(dataSource) !== undefined) return undefined
  return `isolationLevel ${JSON.stringify(isolationLevel)} of its DataSource is not supported: use ${ISOLATIONS.map((each) => each.toUpperCase()).join(', ')}, or leave it out`
}
