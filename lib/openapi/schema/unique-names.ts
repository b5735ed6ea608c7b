/** Names that differ in more than punctuation and case: generators make one name of those that do not. */
export class UniqueNames {
  readonly #names = new Map<string, string>()
  readonly #taken = new Set<string>()

  /** @param first - named before all others, so that these keep their names. */
  constructor(first: Iterable<string>) {
    for (const name of [...first].sort()) this.of(name)
  }

  /** Returns the name itself, or with a number if another one is taken for it. */
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
