import type { DescMethod } from '@bufbuild/protobuf'
import type { Restrictions } from '../chain/call.js'

/**
 * Returns a restriction that always fails: a public method has no decision about the rows that its caller may
 * access.
 */
export const unasked = ({ parent, name }: DescMethod): Restrictions['ownAccess'] => ({
  restrict: () => {
    throw new TypeError(
      `${parent.typeName}.${name}: call.restricted() cannot restrict a public method, for which the authorizer is not called: give the method a rule with a verb`,
    )
  },
})

/** Returns the error for a row-level decision about a function that cannot be restricted. */
export const noRowAccess = ({ parent, name, localName, methodKind }: DescMethod): string => {
  const method = `${parent.typeName}.${name}`
  return methodKind === 'unary'
    ? `the authorizer returned a row-level decision for ${method}, whose function has no row access: declare it as ${localName}: supportsRowAccess(fn)`
    : `the authorizer returned a row-level decision for ${method}, but a stream has no row access: return true for it, and reach the rows through call.restricted(repository)`
}
