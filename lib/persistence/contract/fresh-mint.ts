import { ErrConflict } from '../../errors.js'
import type { Field } from '../../resource/fields/field.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Values } from './new-entity.js'

/** 128 random bits practically never collide. Three collisions mean that the random source is broken. */
const ATTEMPTS = 3

/**
 * Runs a write that mints credentials, and again with fresh ones when a public id it minted was taken already. Any other
 * conflict is the caller's.
 * @param attempt - tells the columns it is about to write.
 */
export async function withFreshMint<T>(
  model: ResourceModel,
  attempt: (minted: (columns: Readonly<Values>) => void) => Promise<T>,
  isTaken: (field: Field, publicId: string) => Promise<boolean>,
): Promise<T> {
  if (model.credentials.length === 0) return attempt(() => {})
  for (let left = ATTEMPTS - 1; ; left--) {
    let columns: Readonly<Values> = {}
    try {
      return await attempt((values) => (columns = values))
    } catch (error) {
      if (left === 0 || !(error instanceof ErrConflict)) throw error
      let taken = false
      for (const { publicId } of model.credentials) {
        const value = columns[publicId.property]
        taken ||= typeof value === 'string' && (await isTaken(publicId, value))
      }
      if (!taken) throw error
    }
  }
}
