import type { DescMessage } from '@bufbuild/protobuf'
import { DeclarationError, InvalidArgument, problem } from '../../errors.js'
import { nameWith, parsePattern, partProblem, valuesIn } from './pattern.js'
import { resourceAnnotation } from './resource-annotation.js'

/** The variables of a pattern, for example `'shelf' | 'book'` for `shelves/{shelf}/books/{book}`. */
export type NameVariables<P extends string> = string extends P
  ? string
  : P extends `${string}{${infer Variable}}${infer Rest}`
    ? Variable | NameVariables<Rest>
    : never

/** The parts of a name, by variable. */
export type NameParts<P extends string> = Readonly<Record<NameVariables<P>, string>>

/** Formats and parses the names of a resource. */
export interface ResourceName<P extends string> {
  /** The resource type, such as `library.example.com/Book`. */
  readonly type: string
  /** The pattern, such as `shelves/{shelf}/books/{book}`. */
  readonly pattern: P
  /** @throws InvalidArgument for a part that is empty or contains a slash. */
  format(parts: NameParts<P>): string
  /**
   * @param field - the request field that contains the name, for the error. Default: `name`.
   * @throws InvalidArgument with the expected pattern.
   */
  parse(name: string, field?: string): NameParts<P>
}

/**
 * Returns functions that format and parse the names of a resource (AIP-122). The pattern's variables are
 * checked at compile time. `-` is an ordinary part; in a read request it stands for any parent (AIP-159).
 * @param message - the resource, whose `google.api.resource` must have the same pattern.
 * @throws DeclarationError if it has another pattern.
 */
export function resourceName<const P extends string>(message: DescMessage, pattern: P): ResourceName<P> {
  const annotation = resourceAnnotation(message)
  const said = annotation?.patterns ?? []
  if (annotation === undefined || said.length !== 1 || said[0] !== pattern)
    throw new DeclarationError(message.typeName, [
      problem(
        'name',
        `google.api.resource has ${said.length === 0 ? 'no pattern' : said.join(' and ')}, not ${pattern}`,
        'change one of them to match the other',
      ),
    ])
  const parsed = parsePattern(pattern)
  const { variables } = parsed
  return Object.freeze({
    type: annotation.type,
    pattern,
    format(parts: NameParts<P>) {
      const values = variables.map((variable) => (parts as Readonly<Record<string, unknown>>)[variable])
      for (const [at, value] of values.entries()) {
        const problem = typeof value === 'string' ? partProblem(value) : 'is not a string'
        if (problem !== undefined)
          throw new InvalidArgument(variables[at] ?? '', `${problem}: the name is ${pattern}`)
      }
      return nameWith(parsed, values as string[])
    },
    parse(name: string, field = 'name') {
      const values = valuesIn(parsed, name)
      if (values === undefined) throw new InvalidArgument(field, `must look like ${pattern}`)
      return Object.fromEntries(variables.map((variable, at) => [variable, values[at]])) as NameParts<P>
    },
  })
}
