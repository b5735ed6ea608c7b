/** Returns a caller's text for a message or a log: at most 64 characters, without control characters. */
export const printable = (word: string): string => word.slice(0, 64).replace(/\p{C}/gu, '?')
