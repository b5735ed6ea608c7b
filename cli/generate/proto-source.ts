import type { FileDescriptorProto } from '@bufbuild/protobuf/wkt'

/** A .proto file as it is written, and what buf read in it. */
export interface ProtoSource {
  readonly text: string
  readonly file: FileDescriptorProto
}

/** A range in the text, in characters. */
export interface Span {
  readonly start: number
  readonly end: number
  readonly hasLeadingComment: boolean
}

/**
 * The place of a declaration, by its path in the descriptor: `[4, 0, 2, 1]` is the second field of the first
 * message. Undefined where the descriptor does not say it.
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

/** The tab widths to try: current buf's, and the widths of protoc and earlier versions. */
const TABS = [4, 8]

/** Lines and columns count from 0, and a column is a character or what a tab fills. */
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
