import { getMetadataArgsStorage } from 'typeorm'
import { snakeCase } from '../../lib/text/snake-case.js'
import { keyColumns, type TenantColumns } from './key-columns.js'

/**
 * The columns of an entity that hold keys of other resources. @param classes - it, and what it extends.
 * @param tenant - of the entity.
 */
export function referenceColumns(classes: ReadonlySet<unknown>, tenant: TenantColumns): ReadonlySet<string> {
  const { relations, joinColumns } = getMetadataArgsStorage()
  const found = new Set<string>()
  for (const { target, propertyName, relationType } of relations) {
    if (!classes.has(target)) continue
    const joins = joinColumns.filter((one) => one.target === target && one.propertyName === propertyName)
    const [join] = keyColumns(tenant, joins)
    if (relationType === 'many-to-one' || (relationType === 'one-to-one' && joins.length > 0))
      found.add(join?.name ?? snakeCase(`${propertyName}Id`))
  }
  return found
}
