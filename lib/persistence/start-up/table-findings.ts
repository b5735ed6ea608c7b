import { isOwning } from '../../resource/relations/relation.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { StartUpFindings } from '../contract/repository.js'
import { type CheckedEntity, namesIn } from './findings.js'

/** References whose columns have no foreign key; undefined where a table always has them. */
export function withoutForeignKey(checked: CheckedEntity): Promise<StartUpFindings> | undefined {
  const { model, dialect, table } = checked
  const asked = dialect.columnsWithoutForeignKey
  const references = model.relations.filter(isOwning)
  if (asked === undefined || references.length === 0) return undefined
  return namesIn(checked, asked, [table.name, table.name]).then((columns) => ({
    problems: [],
    warnings: references
      .filter(({ reference }) => columns.has(reference.column))
      .map(
        ({ property }) =>
          `${property} of ${model.entity.name} has no foreign key, because ${dialect.label} adds none to a table that is there: only repositories keep it inside of its tenant; make the table anew to have one`,
      ),
  }))
}

/** Columns that are not the repository's, and that each of its creates would leave out. */
export function unwritableColumns(model: ResourceModel): string[] {
  const { columns } = model.internal()
  const { name } = model.entity
  return columns
    .filter(({ nullable, hasDefault }) => !nullable && !hasDefault)
    .map(
      ({ property }) =>
        `${property} of ${name} is @Internal(), and its column takes no NULL and has no default: each create of the repository would fail; give the column a default, or make it nullable`,
    )
}
