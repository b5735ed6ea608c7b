import { onProperty } from './apply.js'
import { declareProperty } from './entity-facts.js'

/**
 * Declares a field that a function computes from the entity on every read. It has no column, and filters and
 * sort orders cannot name it. Clients cannot set it. The function must be synchronous, and the entity it
 * receives contains neither secrets nor credentials.
 *
 * @example
 * ```ts
 * import { Computed } from 'ashlar/decorators'
 * import { Column } from 'typeorm'
 *
 * class Line {
 *   @Column() pieces!: number
 *   @Column() price!: number
 *   @Computed((line) => line.pieces * line.price) total!: number
 * }
 * ```
 */
export const Computed = <E extends object>(
  compute: (entity: E) => unknown,
): ((prototype: E, property: string | symbol) => void) =>
  onProperty('Computed', [], (prototype, property) => {
    declareProperty(prototype, property, {
      role: 'computed',
      compute: compute as (entity: object) => unknown,
    })
  })
