import type { DataSource } from 'typeorm'
import type { Isolation } from '../contract/repository.js'

const ISOLATIONS: readonly Isolation[] = ['read committed', 'repeatable read', 'serializable']

/**
 * Returns the `isolationLevel` of a DataSource, which is the default of its transactions, or undefined if it
 * has none.
 */
export function declaredIsolation({ options }: DataSource): Isolation | undefined {
  return ISOLATIONS.find((each) => each === options.isolationLevel?.toLowerCase())
}

/** Returns why the `isolationLevel` of a DataSource is not supported, or undefined if it is. */
export function isolationProblem(dataSource: DataSource): string | undefined {
  const { isolationLevel } = dataSource.options
  if (isolationLevel === undefined || declaredIsolation(dataSource) !== undefined) return undefined
  return `isolationLevel ${JSON.stringify(isolationLevel)} of its DataSource is not supported: use ${ISOLATIONS.map((each) => each.toUpperCase()).join(', ')}, or leave it out`
}
