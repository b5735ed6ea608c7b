import type { FileDescriptorProto } from '@bufbuild/protobuf/wkt'

/** The text of a .proto file and its descriptor. */
export interface ProtoSource {
  readonly text: string
  readonly file: FileDescriptorProto
}

/** A range of characters in the text. */
export interface Span {
  readonly start: number
  readonly end: number
  readonly hasLeadingComment: boolean
}

/**
 * Returns the position of a declaration by its path in the descriptor: `[4, 0, 2, 1]` is the second field of
 * the first message. Undefined if the descriptor does not contain it.
 */
export function spanOf({ text, file }: ProtoSource, path: readonly number[]): Span | undefined {
  const location = file.sourceCodeInfo?.location.find(
    (one) => one.path.length === path.length && one.path.every((part, index) => part === path[index]),
  )
  const [line, column, third, fourth] = location?.span ?? []
  if (line === undefined || column === undefined || third === undefined) return undefined
  for (const tab of TABS) {
    const start = offsetOf(text, line, column, tab)
    const end = fourth === undefined ? offsetOf(text, line, third, tab) : offsetOf(text, third, fourth, tab)
    if (/^\S/.test(text.slice(start, start + 1)) && /[;}]/.test(text.slice(end - 1, end)))
      return { start, end, hasLeadingComment: (location?.leadingComments ?? '') !== '' }
  }
  return undefined
}

/** The tab widths to try: the current width of buf, and the widths of protoc and earlier versions of buf. */
const TABS = [4, 8]

/** Converts a line and column to an offset. Both start at 0, and a tab counts as several columns. */
function offsetOf(text: string, line: number, column: number, tab: number): number {
  let at = 0
  for (let skipped = 0; skipped < line; skipped++) {
    const next = text.indexOf('\n', at)
    if (next === -1) return text.length
    at = next + 1
  }
  let seen = 0
  while (seen < column && at < text.length && text[at] !== '\n') {
    const code = text.codePointAt(at) ?? 0
    seen = text[at] === '\t' ? seen - (seen % tab) + tab : seen + 1
    at += code > 0xffff ? 2 : 1
  }
  return at
}
