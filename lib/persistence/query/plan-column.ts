import type { Column } from '../../resource/fields/field.js'
import type { PlanColumn } from './plan.js'

/** The column of a columns map as plans use it; a typed column stays the same object. */
export const planColumn = (column: Column | string): PlanColumn =>
  typeof column === 'string' ? { column, kind: 'any', nullable: true } : column
