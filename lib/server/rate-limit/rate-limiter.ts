/**
 * Limits load. Limiters of rate-limiter-flexible implement this interface: `consume` rejects with `{
 * msBeforeNext }` if the key is over its limit, and with an Error if the limiter itself fails.
 */
export interface RateLimiter {
  /**
   * Counts one call against a key. The key of a call is `tenant:<tenant>` of its principal, or
   * `peer:<address>` without a tenant; an IPv6 address stands for its 64-bit network. The header `account-id`
   * determines the key only with the development principal function. After 10,000 addresses or 100,000
   * tenants within ten to twenty minutes, new ones share `peers:<n>` and `tenants:<n>`, with n from 0 to
   * 1023.
   */
  consume(key: string): Promise<unknown>
}
