import { createHash } from 'node:crypto'
import type { Statement } from './executor.js'

/**
 * A statement that is named after its text: a session that processes share, behind a pooler, may have one of another text
 * from an older process, and would run that instead.
 */
export const named = (text: string): Statement => ({
  name: `ashlar_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`,
  text,
})
