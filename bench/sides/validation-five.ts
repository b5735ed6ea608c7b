import type { Side } from '../subject.js'
import { validated } from './validation-data.js'

/** Five field rules. */
export function setUp(): Side {
  return { operations: { call: validated(5) } }
}
