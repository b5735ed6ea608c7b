import { type Problem, propertyProblem } from '../errors.js'
import { snakeCase } from '../text/snake-case.js'
import type { FieldNames } from './fields/proto-names.js'

/** Alternative names by which code may refer to a resource's fields. */
interface CodeNames {
  /** Maps alternative names to fields; undefined if each property has the same name as its field. */
  readonly names: ReadonlyMap<string, string> | undefined
  readonly problems: readonly Problem[]
}

/**
 * Returns the names that masks and sort orders in code may use: the property's name, or the name in
 * snake_case.
 * @param properties - the properties of fields and secrets.
 */
export function codeNames(
  properties: readonly string[],
  { inMessage, protoOf }: FieldNames,
  relations: readonly { readonly property: string; readonly proto: string }[],
): CodeNames {
  const meanings = new Map<string, string>()
  for (const property of properties) meanings.set(protoOf(property), protoOf(property))
  for (const { name } of inMessage.values()) meanings.set(name, name)
  const names = new Map<string, string>()
  const problems: Problem[] = []
  for (const property of properties)
    for (const name of new Set([property, snakeCase(property)])) {
      const proto = protoOf(property)
      const meaning = meanings.get(name)
      if (meaning === undefined) {
        meanings.set(name, proto)
        names.set(name, proto)
      } else if (meaning !== proto)
        problems.push(
          propertyProblem(
            'message',
            property,
            `${name} means the field ${proto} as the property ${property}, and also the field ${meaning}`,
            'rename one of them: a mask that code writes could mean either',
          ),
        )
    }
  for (const { property, proto } of relations) if (!meanings.has(property)) names.set(property, proto)
  return { names: names.size === 0 ? undefined : names, problems }
}
