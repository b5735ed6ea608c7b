import { execFileSync } from 'node:child_process'
import type { Side } from '../subject.js'

/** Measures a Node process that does nothing. */
export function setUp(): Side {
  return { operations: { '--help': () => void execFileSync(process.execPath, ['-e', '0']) } }
}
