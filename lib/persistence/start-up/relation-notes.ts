import type { StartUpFindings } from '../contract/repository.js'
import { isLeftBySoftDelete } from '../deletion/rules/family.js'
import { membersOf } from '../deletion/sql/members-of.js'
import { isOwning } from '../../resource/relations/relation.js'
import type { CheckedEntity } from './findings.js'

/** What relations do otherwise than their options say, or than a reader may expect. */
export function relationNotes({ dataSource, model }: CheckedEntity): StartUpFindings {
  const { name } = model.entity
  const unconstrained = model.relations
    .filter(isOwning)
    .filter(({ isUnconstrained }) => isUnconstrained === true && !model.existing)
    .map(
      ({ property }) =>
        `${property} of ${name} has createForeignKeyConstraints: false, and its table has a foreign key all the same: it keeps the reference inside of its tenant`,
    )
  const left = (membersOf(dataSource).get(model)?.parents ?? [])
    .filter(isLeftBySoftDelete)
    .map(
      ({ parent, relation }) =>
        `${relation.property} of ${name}: a Delete of ${parent.model.entity.name} can be undone, so it leaves the rows of ${name}; onDelete: 'CASCADE' deletes them once the row is removed for good`,
    )
  return { problems: [], warnings: [...unconstrained, ...left] }
}
