import { create } from '@bufbuild/protobuf'
import type { Handler } from '../handler.js'
import type { Interceptor, Passed } from '../interceptor.js'
import type { Method } from '../method.js'

export interface Validated {
  readonly validateOnly: boolean
}

/** Answers a `validate_only` call (AIP-163) without running a handler that would write all the same. */
export const validateOnly =
  (handlerOf: (method: Method) => Handler): Interceptor<Validated, Passed<'readMask'>> =>
  (call, next) => {
    const { method, request } = call
    const asked = request !== undefined && method.validateOnly?.(request) === true
    if (asked && !handlerOf(method).supportsValidateOnly) return create(method.desc.output)
    return next(call.with({ validateOnly: asked }))
  }
