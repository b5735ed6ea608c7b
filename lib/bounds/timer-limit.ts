/** The longest time that a timer of Node.js can wait, in milliseconds. A longer one fires at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1
