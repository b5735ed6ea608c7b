import { onProperty } from './apply.js'
import { declareProperty } from './entity-facts.js'

/** Options of `@OutputOnly()`. */
export interface OutputOnlyOptions {
  /** Lets filter and order_by name the field. */
  readonly filterable?: boolean
  /**
   * The table sets it by itself: a trigger, a generated column, a default of SQL or ON UPDATE
   * CURRENT_TIMESTAMP. No statement of a repository writes it, and every write reads the row back in its
   * transaction. Such resources do not share the statements of their writes with others, and are refused in
   * memory, where nothing sets it.
   */
  readonly generated?: boolean
}

/**
 * Only the server writes the field: values that a client sends are dropped (AIP-203). Use it together with
 * `@Column`.
 */
export const OutputOnly = (options: OutputOnlyOptions = {}): PropertyDecorator =>
  onProperty('OutputOnly', [options], (prototype, property) => {
    declareProperty(prototype, property, {
      role: 'outputOnly',
      filterable: options.filterable === true,
      generated: options.generated === true,
    })
  })
