import type { DescField, DescMessage, Message } from '@bufbuild/protobuf'
import { type FieldMask, isWrapperDesc } from '@bufbuild/protobuf/wkt'
import { InvalidArgument } from '../../errors.js'
import { toSnakeCase } from '../json/field-mask-text.js'
import { type FieldPath, findField, holderOf } from './field-path.js'
import { orInvalid } from '../json/fault.js'
import type { Json } from '../json/parse.js'
import { fieldReader } from '../json/reader.js'
import { type Choice, getField, type Local, setField } from '../json/local-field.js'
import type { Parameter } from './query-text.js'
import { textValue } from './text-value.js'
import { printable } from '../../text/printable.js'

/** The fields of a request that the query cannot fill. */
export interface Bound {
  /** Proto paths that the URL's path fills. */
  readonly path: ReadonlySet<string>
  /** The top-level field that the body fills, or `*` for all of them. */
  readonly body: string
}

/**
 * Fills the fields of a request from the query: singular and repeated scalars, enums and wrappers, Timestamp, Duration
 * and FieldMask, nested with dots; map entries as `labels[key]=value`.
 * @throws InvalidArgument naming the parameter.
 */
export function bindQuery(
  desc: DescMessage,
  message: Message,
  parameters: readonly Parameter[],
  bound: Bound,
): void {
  const seen = new Set<string>()
  for (const [name, value] of parameters) {
    const { path, key } = targetOf(desc, name)
    checkFree(path, name, bound)
    checkChoices(path, message)
    const holder = holderOf(path, message)
    if (key !== undefined) bindEntry(path, holder, key, value)
    else if (path.field.fieldKind === 'list') appendItem(path, holder, value)
    else if (path.field.message?.typeName === 'google.protobuf.FieldMask')
      appendPaths(path.field, holder, value)
    else bindOnce(path, holder, value, seen)
  }
}

function targetOf(
  desc: DescMessage,
  name: string,
): { readonly path: FieldPath; readonly key: string | undefined } {
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
  return { path, key: entry?.[2] }
}

function checkFree(path: FieldPath, name: string, { path: inPath, body }: Bound): void {
  if (inPath.has(path.name)) throw new InvalidArgument(path.name, 'is given by the path already')
  const [top] = [...path.parents, path.field]
  if (body === '*' || body === top.name)
    throw new InvalidArgument(path.name, `belongs in the body: ${printable(name)} is no query parameter here`)
}

/** Refuses a second member of a oneof, also of those on the way to the field. */
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

/** Field kinds whose values one string can spell. */
const speaksText = ({ message }: DescField): boolean =>
  message === undefined || TEXTUAL.has(message.typeName) || isWrapperDesc(message)

const TEXTUAL = new Set([
  'google.protobuf.Timestamp',
  'google.protobuf.Duration',
  'google.protobuf.FieldMask',
])

function bindOnce({ name, field }: FieldPath, holder: Message, value: string, seen: Set<string>): void {
  if (seen.has(name)) throw new InvalidArgument(name, 'given more than once')
  seen.add(name)
  read(name, field, holder, textValue(field, value))
}

const appendItem = ({ name, field }: FieldPath, holder: Message, value: string): void =>
  read(name, field, holder, [textValue(field, value)])

const bindEntry = ({ name, field }: FieldPath, holder: Message, key: string, value: string): void =>
  read(name, field, holder, new Map([[key, textValue(field, value)]]))

/** Comma-separated, in either spelling; repeated parameters add up. */
function appendPaths(field: DescField, holder: Message, value: string): void {
  const paths = value === '' ? [] : value.split(',').map(toSnakeCase)
  const mask = getField(holder, field) as FieldMask | undefined
  if (mask === undefined) setField(holder, field, { $typeName: 'google.protobuf.FieldMask', paths })
  else for (const path of paths) mask.paths.push(path)
}

const read = (name: string, field: DescField, holder: Message, json: Json): void =>
  orInvalid(name, () => fieldReader(field)(holder, json, {}))
