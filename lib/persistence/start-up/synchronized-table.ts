import { propertyProblem } from '../../errors.js'
import { kindOfColumn } from '../../resource/kinds/declared-kind.js'
import { kindOf } from '../../resource/kinds/kinds.js'
import type { StartUpFindings } from '../contract/repository.js'
import { SqliteDriver } from '../engines/sqlite/driver.js'
import { tableOf } from '../schema/table-of.js'
import { type CheckedEntity, NOTHING } from './findings.js'

/** Returns the problems of a table that TypeORM creates (`synchronize: true`). */
export function synchronizeFindings(checked: CheckedEntity): StartUpFindings {
  const { dataSource, model, dialect, table } = checked
  if (!isSynchronized(checked)) return NOTHING
  const { driver } = dataSource
  const metadata = dataSource.getMetadata(model.entity)
  const { columns } = tableOf(model, dialect, table)
  // For TypeORM, a Uint8Array is a string, and no byte type works on every database.
  const problems = model.fields.flatMap((field) => {
    const { kind, property, column: name } = field
    const column = metadata.findColumnWithPropertyName(property)
    if (kindOf(field).declared.isDeclaredAsText !== true || column === undefined) return []
    const made = driver.normalizeType(column)
    if (kindOfColumn(made, undefined) === kind) return []
    const needed = columns.find((one) => one.name === name)?.type
    return [
      propertyProblem(
        'dataSource',
        property,
        `${property} is ${kind}, but synchronize creates its column as ${made}, which cannot store it`,
        `write @Column('${needed}'), or turn synchronize off`,
      ),
    ]
  })
  return {
    problems,
    warnings: [
      `synchronize creates the table of ${model.entity.name} by TypeORM's rules, in which unique values are not per tenant and strings are compared loosely: turn it off, and use createTables() or a migration`,
    ],
  }
}

function isSynchronized({ dataSource, model }: CheckedEntity): boolean {
  const isOurs = dataSource.driver instanceof SqliteDriver
  if (isOurs || dataSource.options.synchronize !== true || !dataSource.hasMetadata(model.entity)) return false
  return dataSource.getMetadata(model.entity).synchronize
}
