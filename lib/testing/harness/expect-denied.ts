import assert from 'node:assert/strict'
import { type CallFailure, failureOf, type TestedCall } from './call-failure.js'

/** Words by which a denial would tell whether the thing is there (AIP-211). */
const TELLING =
  /\b(not found|no such|does not exist|doesn't exist|exists|already|deleted|unknown (id|key|name))\b/i

/**
 * Asserts that a call is PermissionDenied (HTTP 403), with a text that does not tell whether the thing exists.
 * @param missing - the same call for a thing that is not there: it has to be denied in the same words.
 * @returns the text.
 */
export async function expectDenied(call: TestedCall, missing?: TestedCall): Promise<string> {
  const { message } = await denialOf(call)
  assert.doesNotMatch(message, TELLING, 'a denial must not tell whether the thing exists')
  if (missing !== undefined)
    assert.equal(
      (await denialOf(missing)).message,
      message,
      'what is missing must be denied in the same words',
    )
  return message
}

async function denialOf(call: TestedCall): Promise<CallFailure> {
  const failure = await failureOf(call)
  assert.ok(failure !== undefined, 'expected PERMISSION_DENIED, but the call was answered')
  assert.equal(failure.code, 'PERMISSION_DENIED', `expected PERMISSION_DENIED, not ${said(failure)}`)
  return failure
}

const said = ({ code, message }: CallFailure): string => `${code}: ${message}`
