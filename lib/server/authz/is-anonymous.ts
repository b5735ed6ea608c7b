import { ANONYMOUS, type Principal } from '../../context.js'

/** True if the principal has no identity. The chain always sets all of its parts. */
export const isAnonymous = (principal: Principal): boolean =>
  principal === ANONYMOUS ||
  (principal.subject === '' && principal.tenant === '' && principal.groups.length === 0)
