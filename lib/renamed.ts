const warned = new Set<string>()

/** Warns, once in a process, that `was` is the old name of `now` and goes with the next release. */
export function warnRenamed(was: string, now: string): void {
  if (warned.has(was)) return
  warned.add(was)
  process.emitWarning(`${was} is now ${now}: the old name goes with the next release`, {
    type: 'DeprecationWarning',
    code: 'ASHLAR_RENAMED',
  })
}

/**
 * The value of an option that has a new name, under whichever name it was given. The old one
 * {@link warnRenamed | warns}.
 * @param where - whose option it is, as in `transaction()`.
 * @param read - what the new name means, of a value that the old one has.
 * @throws TypeError for an option that is given under both names.
 */
export function renamedOption<Value>(
  where: string,
  [was, old]: readonly [name: string, value: Value | undefined],
  [now, value]: readonly [name: string, value: Value | undefined],
  read: (old: Value) => Value = (same) => same,
): Value | undefined {
  if (old === undefined) return value
  if (value !== undefined) throw new TypeError(`${where}: ${now} and ${was} are the same: give ${now} alone`)
  warnRenamed(`${was} of ${where}`, now)
  return read(old)
}
