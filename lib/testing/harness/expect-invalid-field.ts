import assert from 'node:assert/strict'
import { failureOf, type TestedCall } from './call-failure.js'

/**
 * Asserts that a call fails with InvalidArgument (HTTP 400) and that its BadRequest detail names a field.
 * Over gRPC, use a client of `testServer`, because other clients do not return the details.
 * @param field - the path in proto names, such as `widget.display_name`.
 * @returns the description of the field's error.
 */
export async function expectInvalidField(call: TestedCall, field: string): Promise<string> {
  const failure = await failureOf(call)
  assert.ok(failure !== undefined, `expected INVALID_ARGUMENT for ${field}, but the call succeeded`)
  const { code, message, violations } = failure
  assert.equal(code, 'INVALID_ARGUMENT', `expected INVALID_ARGUMENT for ${field}, not ${code}: ${message}`)
  const named = violations.map((violation) => violation.field)
  assert.ok(
    named.includes(field),
    named.length === 0
      ? `no BadRequest detail names a field: ${message}`
      : `the BadRequest detail names ${named.join(', ')}, not ${field}: ${message}`,
  )
  return violations.find((violation) => violation.field === field)?.description ?? ''
}
