/** The prefix of the cursor of a consumer that follows an outbox. */
export const CONSUMER_CURSOR = 'consumer:'

/** The same, of one that follows a stream. */
export const STREAM_CURSOR = 'stream:'

/** The name of the consumer whose cursor it is; undefined for a cursor of a relay. */
export const consumerIn = (cursor: string): string | undefined => {
  const kind = [CONSUMER_CURSOR, STREAM_CURSOR].find((one) => cursor.startsWith(one))
  return kind && cursor.slice(kind.length)
}
