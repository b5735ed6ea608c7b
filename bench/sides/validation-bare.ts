import type { Side } from '../subject.js'

/** Calls the code behind validation directly. */
export function setUp(): Side {
  const request = {}
  const call = { request }
  const next = (passed: { readonly request: object }): object => passed.request
  return {
    operations: {
      call() {
        if (next(call) !== request) throw new TypeError('not passed on')
      },
    },
  }
}
