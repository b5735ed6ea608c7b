/**
 * Of a connection string of MySQL: `mysql2` ignores the parameter, and would connect without TLS where the
 * string asks for it.
 */
export const NO_SSLMODE =
  'mysql2 has no sslmode and would connect without TLS: write ssl={"verifyIdentity":true}, percent-encoded'
