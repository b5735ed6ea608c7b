import type { Field } from '../../../resource/fields/field.js'
import type { Dialect } from '../../dialects/dialect.js'

/** Numbers the placeholders of one statement. */
export class Placeholders {
  readonly #dialect: Dialect
  #count = 0

  constructor(dialect: Dialect) {
    this.#dialect = dialect
  }

  bind(field: Field): string {
    return this.#dialect.values.kinds[field.kind].placeholder(field, ++this.#count)
  }

  /** Skips placeholder numbers that are used by SQL built elsewhere. */
  skip(values: number): void {
    this.#count += values
  }

  /** Returns a placeholder for a number of rows, in a form that every driver accepts. */
  count(): string {
    return this.#dialect.values.countPlaceholder(++this.#count)
  }
}
