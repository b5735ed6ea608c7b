import { type FailureReport, SYSTEM_USE, type SystemReport } from '../../context.js'
import { errorForLog } from '../../faults/driver-fault.js'
import type { Logger } from './logger.js'

/** Where the context of a call writes what happens out of sight of its caller. */
export interface ContextReports {
  readonly onSystem: SystemReport
  readonly onFailure: FailureReport
}

/** Writes a record for each resource that a call reaches as system, and for each failure that nobody waits for. */
export const contextReports = (logger: Logger): ContextReports => ({
  onSystem: (use) => logger.info(use, SYSTEM_USE),
  onFailure: ({ requestId, message, error }) => logger.error({ requestId, err: errorForLog(error) }, message),
})
