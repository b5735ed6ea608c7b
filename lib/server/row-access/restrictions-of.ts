import type { Message } from '@bufbuild/protobuf'
import type { Authorizer } from '../authz/authorizer.js'
import type { Decision } from '../authz/decision.js'
import type { Question } from '../authz/question.js'
import type { Restrictions } from '../chain/call.js'
import type { Deadline } from '../chain/deadline.js'
import type { Method } from '../chain/method.js'
import type { RowAccessUse } from '../chain/row-access.js'
import { rowAccess } from './decided-by-row.js'
import { noRowAccess } from './no-row-access.js'
import type { OtherReads } from './other-reads.js'

/** The parts needed to apply a decision. */
export interface Carrying {
  readonly method: Method
  readonly time: Deadline
  readonly authorizer: Authorizer
  readonly otherReads: OtherReads
  /** The way in which the handler applies a row-level decision. */
  readonly use: RowAccessUse
  /** Returns the request. */
  readonly message: () => Message
  readonly explain: (why: string) => void
}

/**
 * Returns the restrictions of a call that a decision allows.
 * @throws TypeError if the handler cannot apply the decision.
 */
export const restrictionsOf = (
  decision: Exclude<Decision, false>,
  question: Question,
  { method, time, authorizer, otherReads, use, message, explain }: Carrying,
): Pick<Restrictions, 'rowAccess' | 'ownAccess'> => {
  if (use === 'none' && decision !== true) throw new TypeError(noRowAccess(method.desc))
  const decideGet = () => {
    const get = question.verb === 'get' ? question : question.about('get')
    const decided = authorizer.authorize(get)
    return decided instanceof Promise ? time.step(decided) : decided
  }
  const access = rowAccess({
    decision,
    request: question,
    message,
    decideGet,
    otherRead: (repository) => otherReads.of(repository, question, time),
    explain,
  })
  // An allowed read needs no restriction of its own, but its wrapper may read other resources.
  const isOwnOnly = decision === true && (use === 'wrapsRead' || use === 'none')
  return isOwnOnly ? { ownAccess: access } : { rowAccess: access }
}
