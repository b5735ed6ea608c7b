import type { EntityFacts } from '../../../decorators/entity-facts.js'
import { type Problem, propertyProblem } from '../../errors.js'
import type { Field } from './field.js'

/** Returns the problems of `@RenamedFrom()`. */
export function renameProblems(
  { properties, resource }: EntityFacts,
  columns: ReadonlyMap<string, unknown>,
  fields: readonly Field[],
): Problem[] {
  return [...properties].flatMap(([property, { renamedFrom }]): Problem[] => {
    if (renamedFrom === undefined) return []
    if (typeof renamedFrom !== 'string' || renamedFrom === '')
      return [
        propertyProblem(
          'column',
          property,
          `${property}: @RenamedFrom() takes the old name of the column, such as @RenamedFrom('title')`,
        ),
      ]
    if (!columns.has(property))
      return [
        propertyProblem(
          'column',
          property,
          `${property} has a @RenamedFrom() but no column of its own`,
          'add @Column()',
        ),
      ]
    if (resource?.existing === true)
      return [
        propertyProblem(
          'column',
          property,
          `${property}: @RenamedFrom() renames no column of a table with existing: true`,
          'rename the column in a migration that you write, and remove the decorator',
        ),
      ]
    const owner = fields.find(({ column }) => column === renamedFrom)
    return owner === undefined
      ? []
      : [
          propertyProblem(
            'column',
            property,
            `${property}: @RenamedFrom(${JSON.stringify(renamedFrom)}) names the column of ${owner.property}`,
            'a column that is still declared is not renamed',
          ),
        ]
  })
}
