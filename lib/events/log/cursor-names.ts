/** The cursor prefix of consumers that follow an outbox. */
export const CONSUMER_CURSOR = 'consumer:'

/** The cursor prefix of consumers that follow a stream. */
export const STREAM_CURSOR = 'stream:'

/** Returns the name of the cursor's consumer, or undefined for a relay's cursor. */
export const consumerIn = (cursor: string): string | undefined => {
  const kind = [CONSUMER_CURSOR, STREAM_CURSOR].find((one) => cursor.startsWith(one))
  return kind && cursor.slice(kind.length)
}
