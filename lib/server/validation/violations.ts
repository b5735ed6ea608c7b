import { type FieldViolation, InvalidArgument } from '../../errors.js'
import { MAX_VIOLATIONS } from '../../field-violations.js'

/** The violations of one message. No more are collected than a caller receives. */
export class Violations {
  readonly #found: FieldViolation[] = []
  /** The current position: names of fields, each with its index or key. */
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

  /** @param name - of a field of the message where the walk is. */
  add(name: string, reason: string, description: string): void {
    this.#found.push({ field: [...this.#way, name].join('.'), reason, description })
  }

  /** A rule's own, by its whole path. */
  addAt(violation: FieldViolation): void {
    this.#found.push(violation)
  }

  has(field: string): boolean {
    return this.#found.some((one) => one.field === field)
  }

  /** @throws InvalidArgument with all of them. */
  refuse(): void {
    if (this.#found.length > 0) throw InvalidArgument.of(this.#found)
  }
}
