import { onProperty } from './apply.js'
import { declareProperty } from './entity-facts.js'

/** Options of `@OutputOnly()`. */
export interface OutputOnlyOptions {
  /** Allows filters and sort orders to name the field. */
  readonly filterable?: boolean
  /**
   * True if the table sets the field with a trigger, a generated column, a default in SQL or ON UPDATE
   * CURRENT_TIMESTAMP. No statement of a repository writes it, and every write reads the row again in its
   * transaction. Writes of such resources are not coalesced. Memory repositories reject such resources,
   * because nothing would set the field.
   */
  readonly generated?: boolean
}

/**
 * Makes a field writable by the server only (AIP-203). Values that a client sends are ignored. Use it
 * together with `@Column`.
 */
export const OutputOnly = (options: OutputOnlyOptions = {}): PropertyDecorator =>
  onProperty('OutputOnly', [options], (prototype, property) => {
    declareProperty(prototype, property, {
      role: 'outputOnly',
      filterable: options.filterable === true,
      generated: options.generated === true,
    })
  })
