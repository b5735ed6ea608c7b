const MOST_NAMES = 10

/** `0003_c, 0002_b`, and how many more there are behind ten of them. */
export const namesText = (names: readonly string[]): string =>
  names.length <= MOST_NAMES
    ? names.join(', ')
    : `${names.slice(0, MOST_NAMES).join(', ')} and ${names.length - MOST_NAMES} more`
