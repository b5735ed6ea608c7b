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
        'it is in its DataSource twice, as a class and as an EntitySchema',
        'keep the class',
      ),
    ]
  const isCopied = dataSource.entityMetadatas.some(({ targetName }) => targetName === entity.name)
  return [
    isCopied
      ? problem(
          'dataSource',
          `another class named ${entity.name} is in its DataSource`,
          'its module is loaded twice: import it in one way only',
        )
      : problem(
          'dataSource',
          'it is not in its DataSource',
          `add entities: [${entity.name}] there, beside the others`,
        ),
  ]
}
