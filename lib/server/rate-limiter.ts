/**
 * Sheds load. A limiter of rate-limiter-flexible is one: `consume` rejects with `{ msBeforeNext }` when the key has used up
 * its share, and with an Error when the limiter itself is out of order.
 */
export interface RateLimiter {
  /** @param key - `tenant:<account-id>` as the caller states it, else `peer:<address>`. */
  consume(key: string): Promise<unknown>
}
