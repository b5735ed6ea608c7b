import assert from 'node:assert/strict'
import { type CallFailure, failureOf, type TestedCall } from './call-failure.js'

/** Matches words in a denial that would reveal whether the resource exists (AIP-211). */
const TELLING =
  /\b(not found|no such|does not exist|doesn't exist|exists|already|deleted|unknown (id|key|name))\b/i

/**
 * Asserts that a call fails with PermissionDenied (HTTP 403) and a message that does not reveal whether the
 * resource exists.
 * @param missing - the same call for a missing resource, which must fail with the same message.
 * @returns the message.
 */
export async function expectDenied(call: TestedCall, missing?: TestedCall): Promise<string> {
  const { message } = await denialOf(call)
  assert.doesNotMatch(message, TELLING, 'a denial must not reveal whether the resource exists')
  if (missing !== undefined)
    assert.equal(
      (await denialOf(missing)).message,
      message,
      'a missing resource must be denied with the same message',
    )
  return message
}

async function denialOf(call: TestedCall): Promise<CallFailure> {
  const failure = await failureOf(call)
  assert.ok(failure !== undefined, 'expected PERMISSION_DENIED, but the call succeeded')
  assert.equal(failure.code, 'PERMISSION_DENIED', `expected PERMISSION_DENIED, not ${said(failure)}`)
  return failure
}

const said = ({ code, message }: CallFailure): string => `${code}: ${message}`
