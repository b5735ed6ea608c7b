/** Formats a number of things: `1 event`, `2 events`. */
export const counted = (count: number, what: string, several = `${what}s`): string =>
  `${count} ${count === 1 ? what : several}`
