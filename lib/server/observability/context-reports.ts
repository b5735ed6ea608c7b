import { type FailureReport, SYSTEM_USE, type SystemReport } from '../../context.js'
import { errorForLog } from '../../faults/driver-fault.js'
import type { Logger } from './logger.js'

/** Receives reports about a call's context that are logged rather than returned to the caller. */
export interface ContextReports {
  readonly onSystem: SystemReport
  readonly onFailure: FailureReport
}

/** Logs each resource that a call accesses as system, and each failure that no caller receives. */
export const contextReports = (logger: Logger): ContextReports => ({
  onSystem: (use) => logger.info(use, SYSTEM_USE),
  onFailure: ({ requestId, message, error, isWarning = false }) =>
    logger[isWarning ? 'warn' : 'error']({ requestId, err: errorForLog(error) }, message),
})
