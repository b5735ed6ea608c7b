import { onProperty } from './apply.js'
import { declareProperty } from './metadata.js'

export interface OutputOnlyOptions {
  /** Lets filter and order_by name the field. */
  readonly filterable?: boolean
}

/** The server alone writes the field: what a client sends is dropped (AIP-203). Goes beside `@Column`. */
export const OutputOnly = (options: OutputOnlyOptions = {}): PropertyDecorator =>
  onProperty('OutputOnly', (prototype, property) => {
    declareProperty(prototype, property, { role: 'outputOnly', ...options })
  })
