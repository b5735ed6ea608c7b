/**
 * Sheds load. A limiter of rate-limiter-flexible fits: `consume` rejects with `{ msBeforeNext }` when the key
 * is over its limit, and with an Error when the limiter itself fails.
 */
export interface RateLimiter {
  /**
   * Counts one call against a key. Each call has one key: `tenant:<tenant>` of its principal, or
   * `peer:<address>` without a tenant (an IPv6 address stands for its network of 64 bits). The header
   * `account-id` gives a key only with the development principal function. Beyond 10,000 addresses, or
   * 100,000 tenants, in ten to twenty minutes, new ones share `peers:<n>` and `tenants:<n>`, n from 0 to
   * 1023.
   */
  consume(key: string): Promise<unknown>
}
