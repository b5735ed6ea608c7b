import { onProperty } from './apply.js'
import { declareProperty } from './entity-facts.js'

/**
 * The column had another name before. `ashlar migrate diff` then adds the new column, keeps both the same by
 * triggers whichever of them is written, and copies the rows; `--contract` drops the old one. Drop the
 * decorator afterwards. Use it together with `@Column`.
 * @param column - the old name in the database.
 * @example
 * ```ts
 * import { RenamedFrom } from 'ashlar/decorators'
 * import { Column } from 'typeorm'
 *
 * class Task {
 *   @Column({ length: 100 }) @RenamedFrom('title') displayName!: string
 * }
 * ```
 */
export const RenamedFrom = (column: string): PropertyDecorator =>
  onProperty('RenamedFrom', [], (prototype, property) => {
    declareProperty(prototype, property, { renamedFrom: (column as string | undefined) ?? '' })
  })
