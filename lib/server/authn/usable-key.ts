import { createPublicKey, type JsonWebKey } from 'node:crypto'
import type { JWK } from 'jose'

/** RFC 7518 section 3.3 requires verifiers to reject smaller RSA keys. */
const MIN_RSA_BITS = 2048

const KTY: Readonly<Record<string, string>> = { RS: 'RSA', PS: 'RSA', ES: 'EC', Ed: 'OKP' }

/**
 * Returns the members of a JSON Web Key Set that can verify a signature with one of the algorithms. Other
 * members are ignored (RFC 7517 section 5).
 */
export const usableKeys = (set: unknown, algorithms: readonly string[]): JWK[] => {
  const { keys } = (set ?? {}) as { readonly keys?: unknown }
  return Array.isArray(keys) ? keys.filter((member): member is JWK => isUsableKey(member, algorithms)) : []
}

const isUsableKey = (member: unknown, algorithms: readonly string[]): boolean => {
  if (typeof member !== 'object' || member === null || 'd' in member) return false
  const { kty, use, alg, key_ops: operations } = member as Record<string, unknown>
  if (use !== undefined && use !== 'sig') return false
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify'))) return false
  const fitting = alg === undefined ? algorithms : algorithms.filter((algorithm) => algorithm === alg)
  if (!fitting.some((algorithm) => KTY[algorithm.slice(0, 2)] === kty)) return false
  try {
    const { asymmetricKeyDetails } = createPublicKey({ key: member as JsonWebKey, format: 'jwk' })
    return kty !== 'RSA' || (asymmetricKeyDetails?.modulusLength ?? 0) >= MIN_RSA_BITS
  } catch {
    return false
  }
}
