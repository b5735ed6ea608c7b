/** Assigns names that differ even if punctuation and case are ignored, as code generators do. */
export class UniqueNames {
  readonly #names = new Map<string, string>()
  readonly #taken = new Set<string>()

  /** @param first - names to assign first, so that these are not changed. */
  constructor(first: Iterable<string>) {
    for (const name of [...first].sort()) this.of(name)
  }

  /** Returns the name, with a number if it would collide with another one. */
  of(name: string): string {
    const known = this.#names.get(name)
    if (known !== undefined) return known
    let unique = name
    for (let number = 2; this.#taken.has(plain(unique)); number++) unique = `${name}${number}`
    this.#taken.add(plain(unique))
    this.#names.set(name, unique)
    return unique
  }
}

const plain = (name: string): string => name.replaceAll(/[^a-z0-9]/gi, '').toLowerCase()
