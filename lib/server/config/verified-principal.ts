import { ANONYMOUS } from '../../context.js'
import type { PrincipalFunc } from '../interceptors/authorization.js'

/** Returns the principal that the authenticator verified, or the anonymous one. */
export const verifiedPrincipal: PrincipalFunc = ({ verified }) => verified ?? ANONYMOUS
