const MAX_NAMES = 10

/** `0003_c, 0002_b`, and how many more there are behind ten of them. */
export const namesText = (names: readonly string[]): string =>
  names.length <= MAX_NAMES
    ? names.join(', ')
    : `${names.slice(0, MAX_NAMES).join(', ')} and ${names.length - MAX_NAMES} more`
