import type { Side } from '../subject.js'
import { validated } from './validation-data.js'

/** A message type without rules. */
export function setUp(): Side {
  return { operations: { call: validated(0) } }
}
