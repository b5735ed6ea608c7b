/** Returns true if the process's time zone is UTC, or always equal to it. */
export const isProcessInUtc = (): boolean =>
  [0, 6].every((month) => new Date(2026, month).getTimezoneOffset() === 0)

/** Returns the name of the process's time zone, such as `America/New_York`. */
export const processZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone
