import { DeclarationError, problem, Internal } from '../../../errors.js'
import { SEARCH_VECTOR } from '../../dialects/search-predicate.js'

const UNDEFINED_COLUMN = '42703'

/**
 * Adds advice to the error of a search without its stored vector, which no migration has created yet. Returns
 * other errors unchanged.
 */
export function explainMissingVector(error: unknown, type: string): unknown {
  const isMissing =
    error instanceof Error &&
    'code' in error &&
    error.code === UNDEFINED_COLUMN &&
    error.message.includes(SEARCH_VECTOR)
  if (!isMissing) return error
  const advice = `the column ${SEARCH_VECTOR} is missing: write, copy and apply its migrations with ashlar search generate, ashlar search sync and ashlar migrate up`
  return new Internal(new DeclarationError(type, [problem('search', advice)]))
}
