import { create, createRegistry, type DescMessage, type DescService } from '@bufbuild/protobuf'
import { pathToString } from '@bufbuild/protobuf/reflect'
import type { Validator, Violation } from '@bufbuild/protovalidate'
import { Internal, InvalidArgument } from '../../errors.js'
import type { Redaction } from '../../resource/redaction.js'
import type { Logger } from '../observability/logger.js'
import { filesOf, reachable, ruledPart } from './declared-rules.js'
import { hasMoreElements } from './element-count.js'
import { expressionsOf, probesOf } from './expressions.js'
import type { FieldCheck } from './field-behavior.js'
import { isAsked } from './masked-path.js'
import { unknownFieldIn } from './named-fields.js'

/** The rules of `buf.validate` that a server's messages declare. */
export interface MessageRules {
  /** The check of a message type; undefined where no message that it can hold has rules. */
  checkOf(desc: DescMessage): FieldCheck | undefined
}

/** Rules that can be used, or what is wrong with them, in words. */
export interface LoadedRules {
  readonly rules: MessageRules | undefined
  readonly problems: readonly string[]
}

/** Loads what evaluates rules, where the services' requests have any, and tries every rule once. */
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
        `${ruledPart(first) ?? ''} has rules of buf.validate, and nothing evaluates them: npm install @bufbuild/protovalidate`,
      ],
    }
  const { createValidator, rules } = library
  const registry = createRegistry(...filesOf(services))
  const all = createValidator({ registry })
  const expressions = expressionsOf(ruled, services, rules)
  const problems: string[] = []
  // What the library says of a rule is the same in each message that holds its own.
  const told = new Set<string>()
  for (const [index, probe] of probesOf(expressions, rules).entries()) {
    const { at, id, text, self } = expressions[index] as (typeof expressions)[number]
    const problem =
      compilationError(all, probe) ?? (self === undefined ? undefined : unknownFieldIn(text, self))
    if (problem === undefined) continue
    problems.push(`${at}: the rule ${id} of buf.validate cannot be used: ${problem}`)
    told.add(problem)
  }
  problems.push(...emptyProblems(all, ruled, told, logger))
  if (problems.length > 0) return { rules: undefined, problems }
  const quick = createValidator({ registry, failFast: true })
  const isRuled = new Set(ruled)
  return {
    problems: [],
    rules: {
      checkOf: (desc) =>
        [...reachable(desc)].some((one) => isRuled.has(one))
          ? checkOf(desc, quick, all, redaction)
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
 * What an empty message of each type finds wrong with its rules. A rule that only fails on an empty message is logged.
 * @param told - what was said before; what is found now is added.
 */
const emptyProblems = (
  validator: Validator,
  ruled: readonly DescMessage[],
  told: Set<string>,
  logger: Logger,
): string[] => {
  const problems: string[] = []
  // A message comes before those that it holds, and their rules are wrong in it, too.
  for (const desc of [...ruled].reverse()) {
    const result = validator.validate(desc, create(desc))
    if (result.kind !== 'error') continue
    const { name, message } = result.error
    if (name !== 'CompilationError')
      logger.warn(
        { message: desc.typeName, err: result.error },
        'a rule of buf.validate fails on an empty message',
      )
    else if (!told.has(message)) {
      told.add(message)
      problems.push(`${desc.typeName}: its rules of buf.validate cannot be used: ${message}`)
    }
  }
  return problems
}

/** Elements of lists and maps in a message whose violations are all looked for. */
const MAX_ELEMENTS = 100_000

const checkOf =
  (desc: DescMessage, quick: Validator, all: Validator, redaction: Redaction): FieldCheck =>
  (message, ignoredMask, violations) => {
    const first = quick.validate(desc, message)
    if (first.kind === 'valid') return
    // A megabyte of mistakes would take seconds to tell.
    const isLarge = hasMoreElements(message, MAX_ELEMENTS)
    const result = isLarge ? first : all.validate(desc, message)
    if (result.kind === 'error') throw new Internal(result.error)
    const asked = (result.violations ?? []).filter(({ field }) => isAsked(desc, message, field, ignoredMask))
    for (const violation of asked) {
      const field = pathToString(violation.field)
      if (violations.isFull) break
      if (violation.ruleId === 'required' && violations.has(field)) continue
      violations.addAt({ field, reason: violation.ruleId, description: describe(violation, redaction) })
    }
    if (isLarge && asked.length === 0)
      throw new InvalidArgument(
        '',
        `breaks rules, and holds more than ${MAX_ELEMENTS} elements: send fewer at a time`,
      )
  }

/** An expression may repeat the value that it refuses. */
const describe = ({ field, ruleId, message }: Violation, redaction: Redaction): string =>
  message === '' || field.some((step) => step.kind === 'field' && redaction.isSecret(step))
    ? `does not keep the rule ${ruleId}`
    : message
