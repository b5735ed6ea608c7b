import { onProperty } from './apply.js'
import { declareProperty } from './entity-facts.js'

/**
 * The value of the property in a create that gives none, made for each entity. It is called on every
 * database alike; for a value that never changes write `@Column({ default: value })`. Use it together with
 * `@Column`.
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
