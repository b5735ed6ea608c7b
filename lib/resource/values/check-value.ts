import { InvalidArgument } from '../../errors.js'
import type { ValueField } from '../fields/field.js'
import type { Transformed } from '../fields/transformed.js'
import { kindOf } from '../kinds/kinds.js'
import { ownPartProblem } from '../names/pattern.js'

/**
 * Checks one value. The database checks missing values (NOT NULL).
 * @throws InvalidArgument with the proto field.
 */
export function checkValue(field: ValueField, value: unknown): void {
  if (field.transformed !== undefined) return checkTransformed(field, field.transformed, value)
  if (value === undefined || value === null) return
  const { held } = field
  const own = held === undefined ? value : held.toOwn(value)
  const problem =
    (own === undefined ? `must be ${held?.what ?? ''}` : kindOf(field).problem(own, field)) ??
    (field.inName === true ? ownPartProblem(String(value as string | number | bigint)) : undefined)
  if (problem === undefined) return
  const { at, text } = typeof problem === 'string' ? { at: '', text: problem } : problem
  throw new InvalidArgument(`${field.proto}${at}`, text)
}

/** Checks the property's value, and the column's value after the transformer. */
function checkTransformed(
  { transformed: _, ...column }: ValueField,
  { held, to }: Transformed,
  value: unknown,
): void {
  if (held !== undefined) checkValue(held, value)
  checkValue(column, to(value))
}
