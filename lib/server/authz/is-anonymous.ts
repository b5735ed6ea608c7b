import { ANONYMOUS, type Principal } from '../../context.js'

/** Returns true if the principal has no identity. */
export const isAnonymous = (principal: Principal): boolean =>
  principal === ANONYMOUS ||
  (principal.subject === '' && principal.tenant === '' && principal.groups.length === 0)
