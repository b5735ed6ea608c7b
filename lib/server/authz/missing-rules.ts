import { problem, type Problem } from '../../errors.js'
import type { DescMessage, DescMethod } from '@bufbuild/protobuf'
import { snakeCase } from '../../text/snake-case.js'

/** A method without a rule. */
export interface Undeclared {
  /** gRPC full method name. */
  readonly path: string
  /** Undefined if the method was registered by name only. */
  readonly desc: DescMethod | undefined
  /** The resource type of its service's repository. */
  readonly resourceType: string | undefined
}

const MAX_SHOWN = 20

/**
 * Returns the startup error for methods without a rule. It lists their names and the rule to write for each.
 */
export const undeclaredError = (undeclared: readonly Undeclared[]): TypeError =>
  Object.assign(new TypeError(textOf(undeclared)), { values: undeclaredProblems(undeclared) })

export const undeclaredProblems = (undeclared: readonly Undeclared[]): readonly Problem[] =>
  undeclared.map((method) => ({
    ...problem('rule', `${method.path} has no rule`, adviceFor(method)),
    method: method.path,
  }))

function textOf(undeclared: readonly Undeclared[]): string {
  const paths = undeclared.map(({ path }) => path)
  const shown = undeclared.slice(0, MAX_SHOWN)
  const isInProto = shown.some(({ desc }) => desc !== undefined)
  return [
    `authz: ${paths.length} method(s) undeclared: [${paths.join(', ')}]`,
    ...shown.map((method) => `  - ${adviceFor(method)}`),
    ...(shown.length < undeclared.length ? [`  - and ${undeclared.length - shown.length} more`] : []),
    ...(isInProto
      ? [
          '  write it inside the rpc, with import "ashlar/api/v1/annotations.proto", and generate the code again; { public: true } lets anyone call it. A rule can also be given in code, with addRules({ method, verb, resource })',
        ]
      : []),
  ].join('\n')
}

function adviceFor({ path, desc, resourceType }: Undeclared): string {
  if (desc === undefined)
    return `${path} was only recorded: use addRules({ method: '${path}', verb: 'get', resource: 'widget' }) with its own verb and resource`
  const [, word = '', noun = ''] = NAME.exec(desc.name) ?? []
  const verb = VERBS[word] ?? snakeCase(word)
  const resource = resourceType ?? snakeCase(messageOf(desc)?.name ?? noun)
  return `rpc ${desc.name} of ${desc.parent.typeName}: option (ashlar.api.v1.rule) = { verb: "${verb}", resource: "${resource || snakeCase(desc.parent.name)}" };`
}

const NAME = /^(Batch(?:Get|Update|Delete)|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]*)(.*)$/

/** Method name prefixes that are authorized as another verb. */
const VERBS: Readonly<Record<string, string>> = {
  BatchGet: 'get',
  BatchUpdate: 'update',
  BatchDelete: 'delete',
}

/**
 * Finds the message of a method's resource: the first related message whose name is part of the method's
 * name.
 */
const messageOf = ({ name, input, output, parent }: DescMethod): DescMessage | undefined =>
  [output, ...inside(output), ...inside(input), ...parent.methods.map((other) => other.output)].find(
    (message) => name.includes(message.name),
  )

const inside = ({ fields }: DescMessage): DescMessage[] => fields.flatMap(({ message }) => message ?? [])
