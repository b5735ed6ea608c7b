import { type FieldViolation, InvalidArgument } from '../../errors.js'
import { MAX_VIOLATIONS } from '../../field-violations.js'

/** The violations of one message, limited to the number that a caller receives. */
export class Violations {
  readonly #found: FieldViolation[] = []
  /** The current path: field names, each with its index or key. */
  readonly #way: string[] = []

  get isFull(): boolean {
    return this.#found.length >= MAX_VIOLATIONS
  }

  enter(step: string): void {
    this.#way.push(step)
  }

  leave(): void {
    this.#way.pop()
  }

  /** @param name - a field of the message at the current path. */
  add(name: string, reason: string, description: string): void {
    this.#found.push({ field: [...this.#way, name].join('.'), reason, description })
  }

  /** Adds a violation that already contains its whole path. */
  addAt(violation: FieldViolation): void {
    this.#found.push(violation)
  }

  has(field: string): boolean {
    return this.#found.some((one) => one.field === field)
  }

  /** @throws InvalidArgument with all violations. */
  refuse(): void {
    if (this.#found.length > 0) throw InvalidArgument.of(this.#found)
  }
}
