const MAX_NAMES = 10

/** Formats names as `0003_c, 0002_b`. After ten names, only the number of the others is shown. */
export const namesText = (names: readonly string[]): string =>
  names.length <= MAX_NAMES
    ? names.join(', ')
    : `${names.slice(0, MAX_NAMES).join(', ')} and ${names.length - MAX_NAMES} more`
