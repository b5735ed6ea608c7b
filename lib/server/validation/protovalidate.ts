import {
  create,
  createRegistry,
  type DescField,
  type DescMessage,
  type DescService,
  getOption,
  type Message,
} from '@bufbuild/protobuf'
import { pathToString } from '@bufbuild/protobuf/reflect'
import type { Validator, Violation } from '@bufbuild/protovalidate'
import type { MostEntries } from '../../resource/messages/message-limits.js'
import { Internal, InvalidArgument, problem, type Problem } from '../../errors.js'
import type { Redaction } from '../../resource/redaction.js'
import type { Logger } from '../observability/logger.js'
import { filesOf, reachable, ruledPart } from './ruled-part.js'
import { expressionsOf, predefinedIn, probesOf } from './expressions.js'
import { isAsked } from './masked-path.js'
import { invalidUtf8In } from './invalid-utf8.js'
import { unknownFieldIn } from './named-fields.js'
import { type MessagePlan, rulePlans } from './rule-plan.js'
import { ruleWork } from './rule-work.js'
import type { Violations } from './violations.js'

/**
 * Checks the size of a message, and returns a function that evaluates its rules.
 * @throws InvalidArgument if the message is larger than a rule allows, or too large for its rules to be
 * evaluated.
 */
export type RuleCheck = (message: Message, ignoredMask: readonly string[]) => (violations: Violations) => void

/** The `buf.validate` rules that a server's messages declare. */
export interface MessageRules {
  /** Returns the check of a message type; undefined if neither it nor a nested message has rules. */
  checkOf(desc: DescMessage): RuleCheck | undefined
  /** Returns the maximum that `max_items` or `max_pairs` sets for a field; undefined if there is none. */
  mostIn(field: DescField): MostEntries | undefined
}

/** The loaded rules, or the problems with them. */
export interface LoadedRules {
  readonly rules: MessageRules | undefined
  readonly problems: readonly Problem[]
}

/** Loads the validator if the services' requests have rules, and evaluates every rule once. */
export const loadMessageRules = async (
  services: readonly DescService[],
  redaction: Redaction,
  logger: Logger,
): Promise<LoadedRules> => {
  const messages = new Set<DescMessage>()
  for (const { methods } of services) for (const { input } of methods) reachable(input, messages)
  const ruled = [...messages].filter((desc) => ruledPart(desc) !== undefined)
  const [first] = ruled
  if (first === undefined) return { rules: undefined, problems: [] }
  const library = await load()
  if (library === undefined)
    return {
      rules: undefined,
      problems: [
        problem(
          'validation',
          `${ruledPart(first) ?? ''} has buf.validate rules, but nothing evaluates them`,
          'npm install @bufbuild/protovalidate',
        ),
      ],
    }
  const { createValidator, rules } = library
  const registry = createRegistry(...filesOf(services))
  const all = createValidator({ registry })
  const expressions = expressionsOf(ruled, services, rules)
  const problems: Problem[] = []
  // The library reports the same problem with a rule for every message that contains the rule's message.
  const reported = new Set<string>()
  for (const [index, probe] of probesOf(expressions, rules).entries()) {
    const { at, id, text, self } = expressions[index] as (typeof expressions)[number]
    const why = compilationError(all, probe) ?? (self === undefined ? undefined : unknownFieldIn(text, self))
    if (why === undefined) continue
    problems.push(problem('validation', `${at}: the buf.validate rule ${id} cannot be used`, why))
    reported.add(why)
  }
  problems.push(...emptyProblems(all, ruled, reported, logger))
  if (problems.length > 0) return { rules: undefined, problems }
  const quick = createValidator({ registry, failFast: true })
  const predefined = predefinedIn(services, rules).flatMap((one) =>
    getOption(one, rules.predefined).cel.map(({ expression }) => expression),
  )
  const planOf = rulePlans(rules, predefined)
  const isRuled = new Set(ruled)
  return {
    problems: [],
    rules: {
      checkOf: (desc) =>
        [...reachable(desc)].some((one) => isRuled.has(one))
          ? checkOf(desc, planOf(desc), quick, all, redaction)
          : undefined,
      mostIn: (field) =>
        isRuled.has(field.parent)
          ? planOf(field.parent)
              .fields.find((one) => one.field === field)
              ?.most.find(({ of }) => of === 'entries')
          : undefined,
    },
  }
}

const load = async () => {
  try {
    const [{ createValidator }, rules] = await Promise.all([
      import('@bufbuild/protovalidate'),
      import('ashlar-annotations/buf/validate/validate_pb.js'),
    ])
    return { createValidator, rules }
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  }
}

const compilationError = (validator: Validator, desc: DescMessage): string | undefined => {
  const { error } = validator.validate(desc, create(desc))
  return error?.name === 'CompilationError' ? error.message : undefined
}

/**
 * Returns the problems that an empty message of each type reports about its rules. A rule that fails only on
 * an empty message is logged.
 * @param reported - problems reported before; new ones are added.
 */
const emptyProblems = (
  validator: Validator,
  ruled: readonly DescMessage[],
  reported: Set<string>,
  logger: Logger,
): Problem[] => {
  const problems: Problem[] = []
  // A containing message comes before the messages in it, and reports their invalid rules as well.
  for (const desc of [...ruled].reverse()) {
    const result = validator.validate(desc, create(desc))
    if (result.kind !== 'error') continue
    const { name, message } = result.error
    if (name !== 'CompilationError')
      logger.warn(
        { message: desc.typeName, err: result.error },
        'a buf.validate rule fails on an empty message',
      )
    else if (!reported.has(message)) {
      reported.add(message)
      problems.push(problem('validation', `${desc.typeName}: its buf.validate rules cannot be used`, message))
    }
  }
  return problems
}

/**
 * The maximum cost of a message for which all violations are collected. Collecting those of a megabyte of
 * invalid values would take seconds.
 */
const MAX_REPORTED = 5_000

/** Evaluates each rule of a message once, or none if the message is too large. */
const checkOf =
  (desc: DescMessage, plan: MessagePlan, quick: Validator, all: Validator, redaction: Redaction): RuleCheck =>
  (message, ignoredMask) => {
    const { work, tooLarge } = ruleWork(desc, plan, message, ignoredMask)
    if (tooLarge.length > 0) throw InvalidArgument.of(tooLarge)
    const isLarge = work > MAX_REPORTED
    return (violations) => {
      const result = (isLarge ? quick : all).validate(desc, message)
      if (result.kind === 'valid') return
      if (result.kind === 'error') throw failureOf(result.error, desc, message)
      const asked = result.violations.filter(({ field }) => isAsked(desc, message, field, ignoredMask))
      for (const violation of asked) {
        const field = pathToString(violation.field)
        if (violations.isFull) break
        if (violation.ruleId === 'required' && violations.has(field)) continue
        violations.addAt({ field, reason: violation.ruleId, description: describe(violation, redaction) })
      }
      if (isLarge && asked.length === 0)
        throw new InvalidArgument('', 'violates rules, but is too large to name them: send fewer at a time')
    }
  }

/** A string that is not valid UTF-8 is the caller's mistake: no pattern can be applied to it. */
const failureOf = (error: Error, desc: DescMessage, message: Message): Error => {
  const field = error.message.startsWith(NOT_UTF8) ? invalidUtf8In(desc, message) : undefined
  return field === undefined ? new Internal(error) : new InvalidArgument(field, 'must be valid UTF-8')
}

const NOT_UTF8 = 'must be valid UTF-8'

/**
 * Returns the violation's description. For a secret field it names only the rule, because an expression's
 * message may repeat the rejected value.
 */
const describe = ({ field, ruleId, message }: Violation, redaction: Redaction): string =>
  message === '' || field.some((step) => step.kind === 'field' && redaction.isSecret(step))
    ? `violates the rule ${ruleId}`
    : message
