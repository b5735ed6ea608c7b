import type { Column } from '../../resource/fields/field.js'
import type { PlanColumn } from './plan.js'

/** What a columns map says of one field, as plans hold it: a typed column stays the same object. */
export const planColumn = (column: Column | string): PlanColumn =>
  typeof column === 'string' ? { column, kind: 'any', nullable: true } : column
