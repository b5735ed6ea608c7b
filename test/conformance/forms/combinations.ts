/** What can be chosen, by the name of the choice. */
export type Choices = Readonly<Record<string, readonly unknown[]>>

/** One of each. */
export type Chosen<C extends Choices> = { readonly [name in keyof C]: C[name][number] }

/**
 * Rows in which each two values, or each three, that can meet do so. They are the same in each run.
 * @param isPossible - about a row that may not be complete yet. Each row that it takes can be completed.
 */
export function combinations<C extends Choices>(
  choices: C,
  isPossible: (row: Partial<Chosen<C>>) => boolean,
  strength: 2 | 3,
): readonly Chosen<C>[] {
  const names = Object.keys(choices)
  const left = new Set<string>()
  const groups = groupsOf(names, strength)
  for (const group of groups)
    for (const row of rowsOf(choices, group))
      if (isPossible(row as Partial<Chosen<C>>)) left.add(keyOf(row, group))
  const found: Chosen<C>[] = []
  while (left.size > 0) {
    const [asked] = left
    const row = Object.fromEntries(JSON.parse(asked as string) as [string, unknown][])
    for (const name of names) {
      if (Object.hasOwn(row, name)) continue
      const known = Object.keys(row)
      let best: { readonly value: unknown; readonly gain: number } | undefined
      for (const value of rotated(choices[name] ?? [], found.length)) {
        const tried = { ...row, [name]: value }
        if (!isPossible(tried as Partial<Chosen<C>>)) continue
        const gain = groupsOf(known, strength - 1).filter((group) =>
          left.has(keyOf(tried, inOrder(names, [...group, name]))),
        ).length
        if (best === undefined || gain > best.gain) best = { value, gain }
      }
      if (best === undefined) throw new RangeError(`no ${name} is possible with ${JSON.stringify(row)}`)
      row[name] = best.value
    }
    for (const group of groups) left.delete(keyOf(row, group))
    found.push(row as Chosen<C>)
  }
  return found
}

/** The names in so many, each in its order. */
function groupsOf(names: readonly string[], size: number): readonly (readonly string[])[] {
  if (size === 0) return [[]]
  return names.flatMap((name, at) => groupsOf(names.slice(at + 1), size - 1).map((rest) => [name, ...rest]))
}

function rowsOf(choices: Choices, group: readonly string[]): readonly Readonly<Record<string, unknown>>[] {
  const [name, ...rest] = group
  if (name === undefined) return [{}]
  const others = rowsOf(choices, rest)
  return (choices[name] ?? []).flatMap((value) => others.map((row) => ({ [name]: value, ...row })))
}

const keyOf = (row: Readonly<Record<string, unknown>>, group: readonly string[]): string =>
  JSON.stringify(group.map((name) => [name, row[name]]))

const inOrder = (names: readonly string[], some: readonly string[]): readonly string[] =>
  names.filter((name) => some.includes(name))

/** So that no value is always the first to be tried. */
const rotated = <T>(values: readonly T[], by: number): readonly T[] =>
  values.map((_, at) => values[(at + by) % values.length] as T)
