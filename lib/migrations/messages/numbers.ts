export const toFileNumber = (version: number): string => String(version).padStart(4, '0')

/** Returns numbers as ranges, such as `0001 to 0003 and 8001`. Empty if there is no number. */
export function toFileNumbers(versions: readonly number[]): string {
  const runs: { readonly first: number; last: number }[] = []
  for (const version of [...versions].sort((a, b) => a - b)) {
    const run = runs.at(-1)
    if (run?.last === version - 1) run.last = version
    else runs.push({ first: version, last: version })
  }
  const texts = runs.map(({ first, last }) => [...new Set([first, last])].map(toFileNumber).join(' to '))
  return [texts.slice(0, -1).join(', '), ...texts.slice(-1)].filter((text) => text !== '').join(' and ')
}
