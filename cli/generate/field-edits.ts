import { Failure } from '../errors/failure.js'
import type { FieldSpec } from './field-spec.js'
import { fieldLines } from './proto-file.js'
import { type ProtoSource, spanOf } from './proto-source.js'
import { edited, type TextEdit } from './text-edit.js'

/** Field numbers in descriptor.proto, which occur in the path of a declaration. */
const IMPORTS = 3
const MESSAGES = 4
const FIELDS = 2
const ENUMS = 4
const VALUES = 2

const FIRST_OF_THE_IMPLEMENTATION = 19_000
const LAST_OF_THE_IMPLEMENTATION = 19_999
const LAST_NUMBER = 536_870_911

/** The changes to a message. */
export interface FieldChanges {
  readonly added: readonly FieldSpec[]
  /** The names of removed fields. */
  readonly removed: readonly string[]
  /** New values of existing enums, by the name of the enum. */
  readonly values: readonly { readonly enumeration: string; readonly added: readonly string[] }[]
}

/**
 * Returns the text of a file with changes to one message. Everything else is unchanged, including comments. A
 * new field gets the number after the highest that the message has ever used, so that numbers are never
 * reused.
 * @throws {Failure} if the position of a change cannot be found.
 */
export function withFields(source: ProtoSource, message: string, changes: FieldChanges): string {
  const index = source.file.messageType.findIndex(({ name }) => name === message)
  const edits = [
    ...addedFields(source, index, changes.added),
    ...changes.removed.map((name) => removal(source, index, name)),
    ...changes.values.map((change) => addedValues(source, index, change)),
    ...addedImports(source, changes.added),
  ]
  return edited(source.text, edits)
}

function addedFields(source: ProtoSource, index: number, added: readonly FieldSpec[]): TextEdit[] {
  const message = source.file.messageType[index]
  const span = spanOf(source, [MESSAGES, index])
  if (message === undefined || span === undefined) throw unplaced(source, 'the message')
  if (added.length === 0) return []
  let number = highestNumber(message)
  const lines = added.map((field) => {
    number = number + 1 === FIRST_OF_THE_IMPLEMENTATION ? LAST_OF_THE_IMPLEMENTATION + 1 : number + 1
    if (number > LAST_NUMBER)
      throw new Failure('input', `${message.name} already uses the largest possible field number`)
    return fieldLines(field, number)
  })
  const ends = message.field.map((_, at) => spanOf(source, [MESSAGES, index, FIELDS, at])?.end ?? 0)
  const enumerations = lines.flatMap(({ enumeration }) => enumeration)
  const end = span.end - 1
  if (source.text[end] !== '}') throw unplaced(source, 'the end of the message')
  const edits = [
    insertion(
      source.text,
      ends.length === 0 ? undefined : Math.max(...ends),
      end,
      lines.map(({ field }) => field),
    ),
  ]
  if (enumerations.length > 0) edits.push(beforeBrace(source.text, end, ['', ...enumerations]))
  return edits
}

const highestNumber = ({
  field,
  reservedRange,
  extensionRange,
}: ProtoSource['file']['messageType'][number]): number =>
  Math.max(
    0,
    ...field.map(({ number }) => number),
    ...[...reservedRange, ...extensionRange].map(({ end }) => end - 1).filter((last) => last < LAST_NUMBER),
  )

/**
 * Returns an edit that inserts lines after the declaration that ends at `after`, and after a comment on the
 * same line. If `after` is undefined, inserts them at the end of the block.
 */
function insertion(
  text: string,
  after: number | undefined,
  brace: number,
  lines: readonly string[],
): TextEdit {
  if (after === undefined) return beforeBrace(text, brace, lines)
  const eol = endOfLine(text, after)
  if (!/^\s*(\/\/.*|\/\*((?!\*\/).)*\*\/\s*)?$/.test(text.slice(after, eol)))
    return { start: after, end: after, text: lines.map((line) => ` ${line}`).join('') }
  const indent = indentAt(text, after)
  return {
    start: eol,
    end: eol,
    text: lines.map((line) => `${newlineOf(text)}${line === '' ? '' : indent}${line}`).join(''),
  }
}

function beforeBrace(text: string, brace: number, lines: readonly string[]): TextEdit {
  const lineStart = text.lastIndexOf('\n', brace - 1) + 1
  const own = /^\s*$/.test(text.slice(lineStart, brace))
  const at = own ? lineStart : brace
  const indent = `${own ? text.slice(lineStart, brace) : ''}  `
  const newline = newlineOf(text)
  const block = lines.map((line) => `${line === '' ? '' : indent}${line}${newline}`).join('')
  return { start: at, end: at, text: own ? block : `${newline}${block}` }
}

function addedValues(
  source: ProtoSource,
  index: number,
  { enumeration, added }: FieldChanges['values'][number],
): TextEdit {
  const at = source.file.messageType[index]?.enumType.findIndex(({ name }) => name === enumeration) ?? -1
  const values = source.file.messageType[index]?.enumType[at]
  const span = spanOf(source, [MESSAGES, index, ENUMS, at])
  if (values === undefined || span === undefined) throw unplaced(source, `the enum ${enumeration}`)
  const ends = values.value.map(
    (_, value) => spanOf(source, [MESSAGES, index, ENUMS, at, VALUES, value])?.end ?? 0,
  )
  const highest = Math.max(
    ...values.value.map(({ number }) => number),
    // The end of an enum's reserved range is inclusive.
    ...values.reservedRange.map(({ end }) => end).filter((last) => last < 2 ** 31 - 1),
  )
  return insertion(
    source.text,
    Math.max(...ends),
    span.end - 1,
    added.map((value, more) => `${value} = ${highest + 1 + more};`),
  )
}

function removal(source: ProtoSource, index: number, name: string): TextEdit {
  const { text, file } = source
  const at = file.messageType[index]?.field.findIndex((field) => field.name === name) ?? -1
  const field = file.messageType[index]?.field[at]
  const span = spanOf(source, [MESSAGES, index, FIELDS, at])
  if (field === undefined || span === undefined || text[span.end - 1] !== ';')
    throw unplaced(source, `the field ${name}`)
  const reserved = [`reserved ${field.number};`, `reserved "${name}";`]
  const lineStart = text.lastIndexOf('\n', span.start - 1) + 1
  const eol = endOfLine(text, span.end)
  const indent = text.slice(lineStart, span.start)
  const isAlone = /^\s*$/.test(indent) && /^\s*(\/\/.*)?$/.test(text.slice(span.end, eol))
  if (!isAlone) return { start: span.start, end: span.end, text: reserved.join(' ') }
  const start = span.hasLeadingComment ? commentStart(text, lineStart) : lineStart
  return { start, end: eol, text: reserved.map((line) => `${indent}${line}`).join(newlineOf(text)) }
}

/** Returns the start of the comments directly above a line. */
function commentStart(text: string, lineStart: number): number {
  let start = lineStart
  let inBlock = false
  while (start > 0) {
    const above = text.lastIndexOf('\n', start - 2) + 1
    const line = text.slice(above, start).trim()
    if (line.endsWith('*/') && !inBlock) inBlock = !line.startsWith('/*')
    else if (inBlock) inBlock = !line.startsWith('/*')
    else if (!line.startsWith('//')) break
    start = above
  }
  return start
}

function addedImports(source: ProtoSource, added: readonly FieldSpec[]): TextEdit[] {
  const wanted = new Set(
    added.flatMap(({ type, presence }) => [
      ...(type.imports === undefined ? [] : [type.imports]),
      ...(presence === 'required' ? ['google/api/field_behavior.proto'] : []),
    ]),
  )
  const missing = [...wanted].filter((name) => !source.file.dependency.includes(name))
  if (missing.length === 0) return []
  const spans = source.file.dependency.map((_, at) => spanOf(source, [IMPORTS, at])?.end ?? 0)
  const after = spans.length > 0 ? Math.max(...spans) : spanOf(source, [2])?.end
  if (after === undefined) throw unplaced(source, 'the imports')
  return [
    insertion(source.text, after, after, [
      ...(spans.length > 0 ? [] : ['']),
      ...missing.map((name) => `import "${name}";`),
    ]),
  ]
}

const newlineOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n')

function endOfLine(text: string, from: number): number {
  const next = text.indexOf('\n', from)
  if (next === -1) return text.length
  return text[next - 1] === '\r' && next - 1 >= from ? next - 1 : next
}

/**
 * Returns the indentation of the line that contains `at`. All lines of a declaration use the indentation of
 * its first line.
 */
const indentAt = (text: string, at: number): string =>
  /^\s*/.exec(text.slice(text.lastIndexOf('\n', at - 1) + 1, at))?.[0] ?? ''

const unplaced = ({ file }: ProtoSource, what: string): Failure =>
  new Failure('input', `${file.name}: ${what} is not found in the text; run buf format -w, and try again`)
