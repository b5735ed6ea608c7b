import { onProperty } from './apply.js'
import { declareProperty } from './entity-facts.js'

/**
 * A field that a function computes from the entity each time that it is read. It has no column, only the
 * server gives it, and filters and orders cannot name it. The function returns its value at once, so it must
 * not be async, and it sees neither secrets nor credentials.
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
