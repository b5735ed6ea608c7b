/** A caller's word for a message or a log: at most 64 characters, none of them a control character. */
export const printable = (word: string): string => word.slice(0, 64).replace(/\p{C}/gu, '?')
