import { onProperty } from './apply.js'
import { declareProperty } from './entity-facts.js'

/** Options of `@OutputOnly()`. */
export interface OutputOnlyOptions {
  /** Lets filter and order_by name the field. */
  readonly filterable?: boolean
}

/**
 * Only the server writes the field: values that a client sends are dropped (AIP-203). Use it together with
 * `@Column`.
 */
export const OutputOnly = (options: OutputOnlyOptions = {}): PropertyDecorator =>
  onProperty('OutputOnly', [options], (prototype, property) => {
    declareProperty(prototype, property, { role: 'outputOnly', filterable: options.filterable === true })
  })
