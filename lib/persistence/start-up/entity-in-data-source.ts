import { problem, type Problem } from '../../errors.js'
import type { CheckedEntity } from './findings.js'

/** Checks that the DataSource contains the resource's class exactly once. */
export function entityProblems({ dataSource, model: { entity } }: CheckedEntity): Problem[] {
  const found = dataSource.entityMetadatas.filter(({ target }) => target === entity)
  if (found.length === 1) return []
  if (found.length > 1)
    return [
      problem(
        'dataSource',
        'its DataSource contains the entity twice, as a class and as an EntitySchema',
        'remove the EntitySchema',
      ),
    ]
  const isCopied = dataSource.entityMetadatas.some(({ targetName }) => targetName === entity.name)
  return [
    isCopied
      ? problem(
          'dataSource',
          `its DataSource contains another class named ${entity.name}`,
          'its module is loaded twice: import it in one way only',
        )
      : problem(
          'dataSource',
          'its DataSource does not contain the entity',
          `add ${entity.name} to its entities`,
        ),
  ]
}
