import { ANONYMOUS, type Principal } from '../../context.js'

/** True if there is no identity; a principal of the chain always has all of its parts. */
export const isNobody = (principal: Principal): boolean =>
  principal === ANONYMOUS ||
  (principal.subject === '' && principal.tenant === '' && principal.groups.length === 0)
