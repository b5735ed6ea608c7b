/**
 * Sheds load. A limiter of rate-limiter-flexible is one: `consume` rejects with `{ msBeforeNext }` when the key has used up
 * its share, and with an Error when the limiter itself is out of order.
 */
export interface RateLimiter {
  /**
   * Takes one call out of the share of a key. Each call has one key: `tenant:<tenant>` of its principal, and `peer:<address>`
   * where there is none (an IPv6 address stands for its network of 64 bits). The header `account-id` alone is a key with the
   * development principal function only. Keys are bounded in number: beyond 10,000 addresses, or 100,000 tenants, in ten to
   * twenty minutes, new ones share `peers:<n>` and `tenants:<n>`, n from 0 to 1023.
   */
  consume(key: string): Promise<unknown>
}
