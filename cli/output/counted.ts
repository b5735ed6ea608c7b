/** Formats a number of things: `1 event`, `2 events`. */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`
