/** The maximum delay of a Node.js timer in milliseconds. A longer one fires at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1
