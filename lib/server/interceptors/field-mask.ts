import { AshlarError } from '../../errors.js'
import { checkMaskPaths } from '../../resource/mask-paths.js'
import type { Interceptor } from '../chain/interceptor.js'
import type { Authorized } from './authorization.js'

const REQUIRED = 'update_mask is required for update operations'

/**
 * Rejects an update whose `update_mask` is too long or empty (AIP-134). In batches, each item has its own
 * mask. `requestMasks` and the repository check the names.
 */
export const fieldMask =
  (): Interceptor<unknown, Authorized> =>
  (next, { method: { updateMask } }) => {
    if (updateMask === undefined) return next
    return (call) => {
      if (call.verb === 'update' && call.request !== undefined) {
        const paths = updateMask(call.request)
        checkMaskPaths('update_mask', paths)
        if (paths.length === 0) throw maskRequired()
      }
      return next(call)
    }
  }

/**
 * Returns the error for a missing mask. Unlike other invalid arguments, its message does not begin with the
 * field.
 */
const maskRequired = (): AshlarError =>
  new AshlarError('INVALID_ARGUMENT', REQUIRED, {
    details: [{ kind: 'badRequest', violations: [{ field: 'update_mask', description: REQUIRED }] }],
  })
