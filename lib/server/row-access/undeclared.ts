import type { DescMethod } from '@bufbuild/protobuf'
import type { Restrictions } from '../chain/call.js'

/** @throws TypeError for every repository: nothing is known of the rows that the function may reach. */
export const undeclared = ({
  parent,
  name,
  localName,
  methodKind,
}: DescMethod): Restrictions['ownAccess'] => ({
  restrict: () => {
    throw new TypeError(
      `${parent.typeName}.${name}: call.restricted() cannot restrict a function without row access: ${
        methodKind === 'unary'
          ? `declare it as ${localName}: supportsRowAccess(fn)`
          : 'a stream has none, so read these rows in a unary method declared with supportsRowAccess(fn)'
      }`,
    )
  },
})

/** Reports a decision by row about a function that cannot be restricted. */
export const noRowAccess = ({ parent, name, localName, methodKind }: DescMethod): string => {
  const method = `${parent.typeName}.${name}`
  return methodKind === 'unary'
    ? `the authorizer decided by row about ${method}, whose function has no row access: declare it as ${localName}: supportsRowAccess(fn)`
    : `the authorizer decided by row about ${method}, and a stream has no row access: return true or false for it, or read these rows in a unary method`
}
