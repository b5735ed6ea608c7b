import type { Code } from '../../errors.js'

/** Codes for failures of the server. */
export const FAULTS: ReadonlySet<Code> = new Set(['UNKNOWN', 'INTERNAL', 'DATA_LOSS'])
