import { getMetadataArgsStorage } from 'typeorm'
import { snakeCase } from '../../lib/text/snake-case.js'

const TENANT = 'accountId'

/** The columns of an entity that hold keys of other resources. @param classes - it, and what it extends. */
export function referenceColumns(classes: ReadonlySet<unknown>): ReadonlySet<string> {
  const { relations, joinColumns } = getMetadataArgsStorage()
  const found = new Set<string>()
  for (const { target, propertyName, relationType } of relations) {
    if (!classes.has(target)) continue
    const joins = joinColumns.filter((one) => one.target === target && one.propertyName === propertyName)
    const join = joins.find(({ referencedColumnName }) => referencedColumnName !== TENANT)
    if (relationType === 'many-to-one' || (relationType === 'one-to-one' && joins.length > 0))
      found.add(join?.name ?? snakeCase(`${propertyName}Id`))
  }
  return found
}
