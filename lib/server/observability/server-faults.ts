import type { Code } from '../../errors.js'

/** Error codes that indicate a failure of the server. */
export const FAULTS: ReadonlySet<Code> = new Set(['UNKNOWN', 'INTERNAL', 'DATA_LOSS'])
