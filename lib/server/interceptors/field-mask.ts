import { AshlarError } from '../../errors.js'
import { checkMaskPaths } from '../../resource/mask-paths.js'
import type { Interceptor, Passed } from '../chain/interceptor.js'
import type { Authorized } from './authorization.js'

const REQUIRED = 'update_mask is required for update operations'

/** Refuses an update whose `update_mask` is too long, or names nothing (AIP-134). Batches carry theirs per item. */
export const fieldMask = (): Interceptor<Passed<'fieldMask'>, Authorized> => (call, next) => {
  const read = call.method.updateMask
  if (read !== undefined && call.rule.verb === 'update' && call.request !== undefined) {
    const paths = read(call.request)
    checkMaskPaths('update_mask', paths)
    if (paths.length === 0) throw maskRequired()
  }
  return next(call.passed('fieldMask'))
}

/** The text is the whole message, without the field in front of it that every other invalid argument has. */
const maskRequired = (): AshlarError =>
  new AshlarError('INVALID_ARGUMENT', REQUIRED, {
    details: [{ kind: 'badRequest', violations: [{ field: 'update_mask', description: REQUIRED }] }],
  })
