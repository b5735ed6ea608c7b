/** A field of one resource that holds the key of another (google.api.resource_reference). */
export interface Reference {
  /** Full name of the field, such as `widgets.v1.Part.widget`. */
  readonly field: string
  /** Type of the resource it points to. */
  readonly target: string
}

/** Who points to whom, and who can be reached; `serve` refuses a reference whose target nobody declared. */
export class References {
  readonly #references: Reference[] = []
  readonly #batchTargets = new Set<string>()
  readonly #external = new Map<string, string | undefined>()

  record(...references: readonly Reference[]): void {
    this.#references.push(...references)
  }

  /** A type that this process resolves through its BatchGet. */
  recordBatchTarget(type: string): void {
    this.#batchTargets.add(type)
  }

  /** A type that another process serves, at this address where one is known. */
  recordExternalTarget(type: string, address?: string): void {
    this.#external.set(type, address)
  }

  all(): readonly Reference[] {
    return [...this.#references]
  }

  externalTargets(): ReadonlyMap<string, string | undefined> {
    return this.#external
  }

  /** References that lead nowhere, each said in words. */
  dangling(): string[] {
    return this.#references
      .filter(({ target }) => !this.#batchTargets.has(target) && !this.#external.has(target))
      .map(
        ({ field, target }) => `${field} refers to ${target}, which no registered service answers in batches`,
      )
  }
}
