import { InvalidArgument } from '../../errors.js'
import type { ValueField } from '../fields/field.js'
import { kindOf } from '../kinds/kinds.js'
import { ownPartProblem } from '../names/pattern.js'

/**
 * Checks one value. Absent values are left to the database (NOT NULL). @throws InvalidArgument with the proto
 * field.
 */
export function checkValue(field: ValueField, value: unknown): void {
  if (value === undefined || value === null) return
  const problem =
    kindOf(field).problem(value, field) ??
    (field.inName === true ? ownPartProblem(String(value as string | number | bigint)) : undefined)
  if (problem === undefined) return
  const { at, text } = typeof problem === 'string' ? { at: '', text: problem } : problem
  throw new InvalidArgument(`${field.proto}${at}`, text)
}
