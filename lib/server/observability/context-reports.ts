import { type FailureReport, SYSTEM_USE, type SystemReport } from '../../context.js'
import { errorForLog } from '../../faults/driver-fault.js'
import type { Logger } from './logger.js'

/** Receives reports of a call's context that the caller does not see. */
export interface ContextReports {
  readonly onSystem: SystemReport
  readonly onFailure: FailureReport
}

/** Logs each resource that a call reaches as system, and each failure that has no caller. */
export const contextReports = (logger: Logger): ContextReports => ({
  onSystem: (use) => logger.info(use, SYSTEM_USE),
  onFailure: ({ requestId, message, error, isWarning = false }) =>
    logger[isWarning ? 'warn' : 'error']({ requestId, err: errorForLog(error) }, message),
})
