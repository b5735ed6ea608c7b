/** A field of one resource that holds the key of another (google.api.resource_reference). */
export interface Reference {
  /** Full name of the field, such as `widgets.v1.Part.widget`. */
  readonly field: string
  /** Type of the referenced resource. */
  readonly target: string
}

/** All references and reachable types. `serve` refuses a reference whose target is not declared. */
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

  /** A type that another process serves, with its address if known. */
  recordExternalTarget(type: string, address?: string): void {
    this.#external.set(type, address)
  }

  all(): readonly Reference[] {
    return [...this.#references]
  }

  /** References without a target, and addresses that cannot be reached, one text each. */
  problems(): string[] {
    const dangling = this.#references.filter(
      ({ target }) => !this.#batchTargets.has(target) && !this.#external.has(target),
    )
    const unreachable = [...this.#external].filter(
      ([, address]) => address !== undefined && !ADDRESS.test(address),
    )
    return [
      ...dangling.map(
        ({ field, target }) => `${field} refers to ${target}, which no registered service returns in batches`,
      ),
      ...unreachable.map(
        ([type, address]) =>
          `the address "${address}" of the external reference target ${type} is not host:port, such as stock.internal:9090`,
      ),
    ]
  }
}

const ADDRESS = /^(\[[0-9a-fA-F:.]+\]|[^\s:/]+):\d{1,5}$/
