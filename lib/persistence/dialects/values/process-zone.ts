/** True if the zone of this process is UTC, or one that never differs from it. */
export const isProcessInUtc = (): boolean =>
  [0, 6].every((month) => new Date(2026, month).getTimezoneOffset() === 0)

/** The name of that zone, such as `America/New_York`. */
export const processZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone
