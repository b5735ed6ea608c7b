/**
 * The error for `sslmode` in a MySQL connection string. `mysql2` ignores the parameter, and would connect
 * without TLS although the string requests it.
 */
export const NO_SSLMODE =
  'mysql2 has no sslmode and would connect without TLS: write ssl={"verifyIdentity":true}, percent-encoded'
