import type { DescMethod } from '@bufbuild/protobuf'
import type { Restrictions } from '../chain/call.js'

/** @throws TypeError for every repository: a public method asks no one which rows its caller may reach. */
export const unasked = ({ parent, name }: DescMethod): Restrictions['ownAccess'] => ({
  restrict: () => {
    throw new TypeError(
      `${parent.typeName}.${name}: call.restricted() cannot restrict a public method, for which the authorizer is not called: give the method a rule with a verb`,
    )
  },
})

/** Reports a decision by row about a function that cannot be restricted. */
export const noRowAccess = ({ parent, name, localName, methodKind }: DescMethod): string => {
  const method = `${parent.typeName}.${name}`
  return methodKind === 'unary'
    ? `the authorizer returned a row-level decision for ${method}, whose function has no row access: declare it as ${localName}: supportsRowAccess(fn)`
    : `the authorizer returned a row-level decision for ${method}, but a stream has no row access: return true for it, and reach the rows through call.restricted(repository)`
}
