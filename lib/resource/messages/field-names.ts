import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf'
import { shapeOfField } from '../free-form/shape.js'

/** Finds a field by its proto name or its JSON name. */
export function fieldByEitherName({ fields }: DescMessage, name: string): DescField | undefined {
  for (const field of fields) if (field.name === name) return field
  for (const field of fields) if (field.jsonName === name) return field
  return undefined
}

/** A mask path in proto and in JSON names: `address_line_2` and `addressLine2`. */
export interface MaskPath {
  readonly proto: string
  readonly json: string
}

/** A step of a path: a field, a key of the preceding map, or `*` for each item of the preceding list. */
export type MaskStep =
  { readonly field: DescField } | { readonly key: string; readonly text: string } | { readonly isEach: true }

/**
 * Returns the steps of a dotted path; undefined if the message has no such field or the map no such key. A
 * map key may be enclosed in backticks (AIP-161). Without backticks, the key of a map of messages or of
 * free-form JSON ends at the next dot, and any other key ends with the path.
 */
export function maskSteps(
  message: DescMessage,
  path: string,
  fieldOf: (message: DescMessage, name: string) => DescField | undefined = fieldByEitherName,
): readonly MaskStep[] | undefined {
  const steps: MaskStep[] = []
  let inside: DescMessage | undefined = message
  let field: DescField | undefined
  for (let rest: string | undefined = path; rest !== undefined;) {
    if (field !== undefined && hasKeys(field)) {
      const [key, text] = leadingKey(rest, true)
      if (key === undefined) return undefined
      steps.push({ key, text })
      rest = behind(rest, text)
      continue
    }
    if (field?.fieldKind === 'map') {
      const [key, text] = leadingKey(rest, field.mapKind === 'message')
      if (key === undefined || !isKeyOf(field, key)) return undefined
      steps.push({ key, text })
      rest = behind(rest, text)
      field = undefined
      continue
    }
    const name = leadingName(rest)
    rest = behind(rest, name)
    if (field?.fieldKind === 'list' && name === '*') {
      steps.push({ isEach: true })
      field = undefined
      continue
    }
    field = inside && fieldOf(inside, name)
    if (field === undefined) return undefined
    steps.push({ field })
    inside = field.message
  }
  return steps
}

/** Returns true if the path can continue with keys of free-form JSON, in a Struct or a Value. */
const hasKeys = (field: DescField): boolean => {
  const shape = shapeOfField(field)
  return shape === 'object' || shape === 'any'
}

const leadingName = (path: string): string => path.slice(0, (path.indexOf('.') + 1 || path.length + 1) - 1)

/** Returns the rest of a path after a step and its dot; undefined if the step is the last one. */
const behind = (path: string, step: string): string | undefined =>
  path.length === step.length ? undefined : path.slice(step.length + 1)

/**
 * Returns the first key of a path, decoded and as written. A plain `*` is not a key, because AIP-161 gives it
 * another meaning.
 */
function leadingKey(path: string, endsAtDot: boolean): readonly [string | undefined, string] {
  if (path.startsWith('`')) {
    const end = path.indexOf('`.', 1)
    const text = end < 0 ? path : path.slice(0, end + 1)
    return [text.length > 1 && text.endsWith('`') ? text.slice(1, -1) : undefined, text]
  }
  const text = endsAtDot ? leadingName(path) : path
  return [text === '*' || text === '' ? undefined : text, text]
}

/** Returns true if the map can have the key, in the canonical form of its key type. */
function isKeyOf({ mapKey }: DescField & { readonly fieldKind: 'map' }, key: string): boolean {
  if (mapKey === ScalarType.STRING) return true
  return mapKey === ScalarType.BOOL ? /^(true|false)$/.test(key) : /^(0|-?[1-9]\d*)$/.test(key)
}

/** Formats a map key for a path, with backticks if necessary. */
export const quotedKey = (key: string): string => (/^\w+$/.test(key) ? key : `\`${key}\``)

/** Splits a list of paths at its commas, except for commas in backticks, which belong to keys. */
export const splitPaths = (text: string): string[] => text.match(/(?:`[^`]*`|[^,])+|(?<=,|^)(?=,|$)/g) ?? []

/** Finds a dotted path of proto or JSON names; undefined if the message has no such field. */
export function findMaskPath(message: DescMessage, path: string): MaskPath | undefined {
  if (!path.includes('.')) {
    const field = fieldByEitherName(message, path)
    return field && { proto: field.name, json: field.jsonName }
  }
  const steps = maskSteps(message, path)
  if (steps === undefined) return undefined
  const joined = (nameOf: (field: DescField) => string): string =>
    steps.map((step) => ('field' in step ? nameOf(step.field) : 'text' in step ? step.text : '*')).join('.')
  return { proto: joined(({ name }) => name), json: joined(({ jsonName }) => jsonName) }
}
