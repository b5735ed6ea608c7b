import { ANONYMOUS } from '../../context.js'
import type { PrincipalFunc } from '../interceptors/authorization.js'

/** The verified-principal reader: whoever the authenticator verified, else nobody. */
export const verifiedPrincipal: PrincipalFunc = ({ verified }) => verified ?? ANONYMOUS
