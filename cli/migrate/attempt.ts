import { onOneLine } from '../loading/entities.js'
import { Failure } from '../errors/failure.js'

/**
 * Returns the result of `work`, or throws the engine's error as a `Failure`: of the files and flags, or of the
 * database.
 */
export async function attempt<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { MigrationError } = await import('../../lib/migrations/index.js')
    if (error instanceof MigrationError) {
      const exit = error.sqlState === 'ERR_INVALID_URL' ? 'input' : 'database'
      throw new Failure(exit, error.message, { cause: error })
    }
    if (error instanceof Error && /^migrations\b/.test(error.message))
      throw new Failure('input', onOneLine(error.message), { cause: error })
    throw error
  }
}
