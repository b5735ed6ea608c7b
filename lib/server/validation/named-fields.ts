import type { DescField, DescMessage } from '@bufbuild/protobuf'
import { misspelt } from '../../text/misspelt.js'

/**
 * Matches comments and strings in CEL. Raw strings end at the next quote; in others a backslash escapes it.
 */
export const NO_CODE =
  /\/\/.*|[bB]?[rR][bB]?(?:"""[^]*?"""|'''[^]*?'''|"[^"\n]*"|'[^'\n]*')|"""[^]*?"""|'''[^]*?'''|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/g
/** Matches a chain of fields after `this`. A name followed by a bracket is a function. */
const CHAIN = /(?<![\w.])this((?:\s*\.\s*[A-Za-z_]\w*\b(?!\s*\())+)/g

/**
 * Returns a sentence if an expression names a field that `this` does not have, which would fail in every
 * call. Variables of macros are not checked, nor is anything inside lists, maps and messages of
 * `google.protobuf`.
 */
export function unknownFieldIn(expression: string, desc: DescMessage): string | undefined {
  const code = expression.replaceAll(NO_CODE, "''")
  if (/\(\s*this\s*,/.test(code)) return undefined
  for (const [, chain = ''] of code.matchAll(CHAIN)) {
    let at: DescMessage | undefined = desc
    for (const name of chain.split('.').map((part) => part.trim())) {
      if (name === '' || at === undefined) continue
      const field: DescField | undefined = at.fields.find((one) => one.name === name)
      if (field === undefined)
        return misspelt(
          name,
          at.name,
          at.fields.map((one) => one.name),
        )
      at = field.fieldKind === 'message' ? withFields(field.message) : undefined
    }
  }
  return undefined
}

/** Returns undefined for well-known types, which CEL represents as other types such as timestamps. */
export const withFields = (desc: DescMessage): DescMessage | undefined =>
  desc.typeName.startsWith('google.protobuf.') ? undefined : desc
