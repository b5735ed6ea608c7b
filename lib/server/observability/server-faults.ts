import type { Code } from '../../errors.js'

/** Codes that say that something broke on our side. */
export const FAULTS: ReadonlySet<Code> = new Set(['UNKNOWN', 'INTERNAL', 'DATA_LOSS'])
