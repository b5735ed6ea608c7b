import { onProperty } from './apply.js'
import { declareProperty } from './entity-facts.js'

/**
 * Sets the property's value in a create without one. The function is called for each entity, on every
 * database. For a constant use `@Column({ default: value })` instead. Use it together with `@Column`.
 *
 * @example
 * ```ts
 * import { Default } from 'ashlar/decorators'
 * import { Column } from 'typeorm'
 *
 * class Task {
 *   @Column({ default: 3 }) priority!: number
 *   @Column() @Default(() => new Date(Date.now() + 86_400_000)) dueTime!: Date
 * }
 * ```
 */
export const Default = (make: () => unknown): PropertyDecorator =>
  onProperty('Default', [], (prototype, property) => {
    declareProperty(prototype, property, { default: make })
  })
