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

  /** Leaves out the numbers of values that text written elsewhere binds. */
  skip(values: number): void {
    this.#count += values
  }

  /** A row count, which every driver takes as it is. */
  count(): string {
    return this.#dialect.values.countPlaceholder(++this.#count)
  }
}
