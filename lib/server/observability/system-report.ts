import { SYSTEM_USE, type SystemReport } from '../../context.js'
import type { Logger } from './logger.js'

/** Writes a record for each resource that a call reaches as system. */
export const systemReport =
  (logger: Logger): SystemReport =>
  (use) =>
    logger.info(use, SYSTEM_USE)
