import { problem, type Problem, propertyProblem } from '../../errors.js'
import type { DescField, DescMessage } from '@bufbuild/protobuf'
import type { Field } from '../fields/field.js'
import { kindOf } from '../kinds/kinds.js'
import { nameWith, parentOf, parsePattern, type Pattern, valuesIn } from './pattern.js'
import { isText, type ResourceAnnotation, resourceAnnotation } from './resource-annotation.js'

/** A variable of a pattern and the field that contains its value. */
export interface NameVariable {
  readonly name: string
  readonly field: Field
}

/** The names of a resource's entities (AIP-122). A name is computed from fields and never stored. */
export interface NamePattern {
  /** The resource type, such as `library.example.com/Book`. */
  readonly type: string
  /** The pattern, such as `shelves/{shelf}/books/{book}`. */
  readonly pattern: string
  readonly singular: string
  /** The plural in the annotation; `''` if it has none. */
  readonly plural: string
  /** The message field that contains the name. */
  readonly field: DescField
  /** @internal */
  readonly segments: Pattern['segments']
  /** The variables in the order of the pattern. The last one is the key. */
  readonly variables: readonly NameVariable[]
  /** True if each parent has exactly one such resource (AIP-156). */
  readonly isSingleton: boolean
  /**
   * The parent's pattern, which contains the leading variables; undefined for a top-level resource.
   * @internal
   */
  readonly parent: Pattern | undefined
  /** Returns the name of an entity; `''` if the entity lacks a part of it. */
  format(entity: object): string
  /** Returns the values of the variables in order; undefined for a string that does not match the pattern. */
  parse(name: string): readonly string[] | undefined
}

/** The result of reading a resource's name pattern. */
export interface NameReading {
  readonly name: NamePattern | undefined
  /**
   * The fields of the entity. Fields that are part of the name are marked, because no mask may contain them.
   */
  readonly fields: readonly Field[]
  readonly problems: readonly Problem[]
}

/**
 * Reads the `google.api.resource` option of a message. A message without a name field has no name pattern;
 * its annotation states only the type.
 * @param fields - the fields of the entity.
 */
export function namePatternOf(message: DescMessage | undefined, fields: readonly Field[]): NameReading {
  const annotation = message && resourceAnnotation(message)
  const noName: NameReading = { name: undefined, fields, problems: [] }
  if (message === undefined || annotation === undefined) return noName
  const refused = (rule: string, advice?: string): NameReading => ({
    ...noName,
    problems: [problem('name', rule, advice)],
  })
  const { field, fieldName, patterns } = annotation
  const where = `google.api.resource of ${message.typeName}`
  if (field === undefined)
    return fieldName === 'name'
      ? noName
      : refused(
          `${where}: there is no field ${fieldName}`,
          'name_field must name the field that contains the name',
        )
  if (patterns.length === 0) return noName
  const [text = '', another] = patterns
  if (another !== undefined)
    return refused(
      `${where} has several patterns, ${patterns.join(' and ')}`,
      'keep one, because a name is computed from one set of fields',
    )
  if (!isText(field))
    return refused(`${where}: ${fieldName} must be a string without presence, because it contains the name`)
  try {
    return variablesOf(where, annotation, field, parsePattern(text), fields)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return refused(`${where}: the pattern ${text} cannot be used: ${error.message}`)
  }
}

function variablesOf(
  where: string,
  { type, singular, plural }: ResourceAnnotation,
  field: DescField,
  pattern: Pattern,
  fields: readonly Field[],
): NameReading {
  const problems: Problem[] = []
  if (!/^[^/\s]+\/[A-Za-z][A-Za-z0-9]*$/.test(type))
    problems.push(
      problem(
        'name',
        `${where}: the type ${JSON.stringify(type)} must be a service and a kind, such as library.example.com/Book`,
      ),
    )
  const stored = fields.find(({ exposed, proto }) => exposed && proto === field.name)
  if (stored !== undefined)
    problems.push(
      propertyProblem(
        'name',
        stored.property,
        `${stored.property} is the name ${pattern.text}, which is computed`,
        'remove the property, and store the parts of the name in their own properties, as in @PrimaryColumn() id!: string',
      ),
    )
  const key = fields.find(({ role }) => role === 'key')
  const variables = pattern.variables.map((name, at) => {
    if (at === pattern.variables.length - 1) return key && { name, field: key }
    const held = fieldOf(name, fields)
    const why = held === undefined ? `has no property: add ${advice(name)}` : unfit(held)
    if (why !== undefined)
      problems.push(
        problem(
          'name',
          `the variable {${name}} in the pattern ${pattern.text}${held ? ` is the property ${held.property}, which` : ''} ${why}`,
        ),
      )
    return held && { name, field: held }
  })
  // Without problems, only the key's variable can be undefined. A missing key is reported elsewhere.
  if (problems.length > 0 || variables.some((variable) => variable === undefined))
    return { name: undefined, fields, problems }
  const fixed = new Map(
    (variables as NameVariable[]).map(({ field: held }) => [
      held,
      Object.freeze({ ...held, writable: false, inName: true }),
    ]),
  )
  const parts = (variables as NameVariable[]).map((part) => ({
    ...part,
    field: fixed.get(part.field) as Field,
  }))
  const properties = parts.map((part) => part.field.property)
  const name: NamePattern = {
    type,
    pattern: pattern.text,
    singular,
    plural,
    field,
    segments: pattern.segments,
    variables: parts,
    isSingleton: pattern.isSingleton,
    parent: parentOf(pattern),
    format(entity) {
      const values: string[] = []
      for (const property of properties) {
        const value = (entity as Readonly<Record<string, unknown>>)[property]
        const text = typeof value === 'bigint' || typeof value === 'number' ? String(value) : value
        if (typeof text !== 'string' || text === '') return ''
        values.push(text)
      }
      return nameWith(pattern, values)
    },
    parse: (text) => valuesIn(pattern, text),
  }
  return { name: Object.freeze(name), fields: fields.map((held) => fixed.get(held) ?? held), problems }
}

/** Returns the field of a variable: `shelf_id`, or `shelf` if there is none. */
const fieldOf = (variable: string, fields: readonly Field[]): Field | undefined =>
  fields.find(({ proto }) => proto === `${variable}_id`) ?? fields.find(({ proto }) => proto === variable)

const advice = (variable: string): string =>
  `@Column() ${variable.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())}Id!: string`

function unfit(field: Field): string | undefined {
  const { nullable, role, repeated } = field
  if (role === 'key')
    return 'is the key: the last variable of a pattern is the key, and the others have their own fields'
  if (kindOf(field).key === undefined || repeated) return 'must be a string, a uuid or an integer'
  if (nullable) return 'must not be nullable: every resource has a complete name'
  return role === 'plain' || role === 'outputOnly' || role === 'tenant'
    ? undefined
    : `is a field of the server's own`
}
