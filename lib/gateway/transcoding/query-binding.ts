import type { DescField, DescMessage, Message } from '@bufbuild/protobuf'
import { type FieldMask, isWrapperDesc } from '@bufbuild/protobuf/wkt'
import { BoundedCache } from '../../bounded-cache.js'
import { InvalidArgument } from '../../errors.js'
import { masked, protoPaths } from '../json/field-mask-text.js'
import { type FieldPath, findField, holderOf } from './field-path.js'
import { invalidAt } from '../json/fault.js'
import type { Json } from '../json/parse.js'
import { type FieldReader, fieldReader } from '../json/reader.js'
import { type Choice, getField, type Local, setField } from '../../resource/messages/local-field.js'
import { splitPaths } from '../../resource/messages/field-names.js'
import type { Parameter } from './query-text.js'
import { textValue } from './text-value.js'
import { printable } from '../../text/printable.js'

/** The fields of a request that the query cannot fill. */
export interface Bound {
  /** The proto paths that the URL's path fills. */
  readonly path: ReadonlySet<string>
  /** The top-level field that the body fills, or `*` for all of them. */
  readonly body: string
}

/**
 * Fills fields of a request.
 * @throws InvalidArgument with the parameter.
 */
export type QueryBinder = (message: Message, parameters: readonly Parameter[]) => void

/**
 * The number of parameter names that a binder caches. Only names that exist in the request's message are
 * cached.
 */
const REMEMBERED = 100

/**
 * Returns a function that fills a request from the query: singular and repeated scalars, enums and wrappers,
 * Timestamp, Duration and FieldMask, nested with dots, and map entries as `labels[key]=value`.
 * @param answer - the response of the method, whose fields a read mask names.
 */
export function queryBinder(desc: DescMessage, bound: Bound, answer?: DescMessage): QueryBinder {
  const known = new BoundedCache<string, Target>(REMEMBERED, 'query_parameters')
  return (message, parameters) => {
    const seen = new Set<string>()
    for (const [name, value] of parameters) {
      let target = known.get(name)
      if (target === undefined) {
        target = targetOf(desc, name, bound)
        if (target.key === undefined) known.set(name, target)
      }
      const { path, key, isChoice } = target
      if (isChoice) checkChoices(path, message)
      const holder = path.parents.length === 0 ? message : holderOf(path, message)
      if (key !== undefined) put(target, holder, new Map([[key, textValue(path.field, value)]]))
      else if (path.field.fieldKind === 'list') put(target, holder, [textValue(path.field, value)])
      else if (path.field.message?.typeName === 'google.protobuf.FieldMask')
        appendPaths(path.field, holder, value, answer)
      else if (seen.has(path.name)) throw new InvalidArgument(path.name, 'given more than once')
      else {
        seen.add(path.name)
        put(target, holder, textValue(path.field, value))
      }
    }
  }
}

/** The field that a parameter sets. */
interface Target {
  readonly path: FieldPath
  /** The key of a map entry. */
  readonly key: string | undefined
  /** True if the field or one of its parents is a member of a oneof. */
  readonly isChoice: boolean
  readonly read: FieldReader
}

function targetOf(desc: DescMessage, name: string, bound: Bound): Target {
  const entry = /^([^[\]]+)\[(.*)\]$/s.exec(name)
  const path = findField(desc, entry?.[1] ?? name)
  if (path === undefined) throw new InvalidArgument(printable(name), 'unknown query parameter')
  if ((path.field.fieldKind === 'map') !== (entry !== null))
    throw new InvalidArgument(
      path.name,
      entry === null
        ? `name an entry, as in ${path.name}[key]=value`
        : 'is not a map: leave the brackets out',
    )
  if (!speaksText(path.field))
    throw new InvalidArgument(
      path.name,
      'cannot be given in the query: name a field in it, or send it in the body',
    )
  checkFree(path, name, bound)
  const isChoice = [...path.parents, path.field].some(({ oneof }) => oneof !== undefined)
  return { path, key: entry?.[2], isChoice, read: fieldReader(path.field) }
}

function checkFree(path: FieldPath, name: string, { path: inPath, body }: Bound): void {
  if (inPath.has(path.name)) throw new InvalidArgument(path.name, 'is already given by the path')
  const [top] = [...path.parents, path.field]
  if (body === '*' || body === top.name)
    throw new InvalidArgument(
      path.name,
      `belongs in the body: ${printable(name)} is not a query parameter here`,
    )
}

/** Rejects a second member of a oneof, also for parents of the field. */
function checkChoices({ name, parents, field }: FieldPath, root: Message): void {
  let holder: Message | undefined = root
  for (const step of [...parents, field]) {
    if (holder === undefined) return
    if (step.oneof !== undefined) {
      const choice = (holder as Local)[step.oneof.localName] as Choice
      if (choice.case !== undefined && choice.case !== step.localName)
        throw new InvalidArgument(
          name,
          `only one of ${step.oneof.fields.map((each) => each.name).join(', ')} may be given`,
        )
    }
    holder = step === field ? undefined : (getField(holder, step) as Message | undefined)
  }
}

/** Returns true for fields whose value can be written as a single string. */
export const speaksText = ({ message }: DescField): boolean =>
  message === undefined || TEXTUAL.has(message.typeName) || isWrapperDesc(message)

const TEXTUAL = new Set([
  'google.protobuf.Timestamp',
  'google.protobuf.Duration',
  'google.protobuf.FieldMask',
])

/** Adds comma-separated proto or JSON names to a mask. Repeated parameters are combined. */
function appendPaths(
  field: DescField,
  holder: Message,
  value: string,
  answer: DescMessage | undefined,
): void {
  const paths = value === '' ? [] : protoPaths(splitPaths(value), masked(field), answer)
  const mask = getField(holder, field) as FieldMask | undefined
  if (mask === undefined) setField(holder, field, { $typeName: 'google.protobuf.FieldMask', paths })
  else for (const path of paths) mask.paths.push(path)
}

function put({ path, read }: Target, holder: Message, json: Json): void {
  try {
    read(holder, json, {})
  } catch (error) {
    throw invalidAt(path.name, error)
  }
}
