import { problem } from '../../errors.js'
import { kindOf } from '../../resource/kinds/kinds.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { StartUpFindings } from '../contract/repository.js'
import { isProcessInUtc, processZone } from '../dialects/values/process-zone.js'
import { quoteTable } from '../dialects/quote-table.js'
import { type CheckedEntity, namesIn, NOTHING, together, warning } from './findings.js'

/**
 * Reports values that TypeORM's own manager, with the options of its DataSource, reads and writes
 * differently.
 */
export function managerFindings({ dataSource, model, dialect }: CheckedEntity): StartUpFindings {
  const options = { ...dataSource.options }
  const found = model.fields.flatMap(
    (field) => dialect.values.kinds[field.kind].managed?.(options, field, model.existing) ?? [],
  )
  const byText = new Map(found.map((one) => [one.what, one.advice]))
  const all = [...byText].map(([what, advice]) =>
    managedOtherwise(model, `TypeORM's own manager ${what}`, `${advice} (${model.entity.name})`),
  )
  return together(all)
}

/**
 * Reports times that TypeORM's manager interprets as local. Returns undefined if there are none. The column
 * type is read from the database, because TypeORM and createTables() create different types for a Date.
 */
export function withoutZone(checked: CheckedEntity): Promise<StartUpFindings> | undefined {
  const { model, dialect, table } = checked
  const asked = dialect.catalog.timesWithoutZone
  const times = model.fields.filter((field) => kindOf(field).declared.fits(Date, false))
  if (asked === undefined || times.length === 0 || isProcessInUtc()) return undefined
  return namesIn(checked, asked, [quoteTable(table, dialect)]).then((columns) => {
    const found = times.filter(({ column }) => columns.has(column)).map(({ property }) => property)
    if (found.length === 0) return NOTHING
    const what = `times without a zone are in ${found.join(', ')} of ${model.entity.name}: repositories read and write them in UTC, but TypeORM's own manager uses ${processZone()}, the zone of this process`
    return managedOtherwise(model, what, 'start the process with TZ=UTC, or make the columns timestamptz')
  })
}

/**
 * Returns a problem for an existing table, because two writers would store values differently. Otherwise
 * returns a warning.
 */
const managedOtherwise = ({ existing }: ResourceModel, what: string, advice: string): StartUpFindings =>
  existing ? { problems: [problem('dataSource', what, advice)], warnings: [] } : warning(`${what}: ${advice}`)
