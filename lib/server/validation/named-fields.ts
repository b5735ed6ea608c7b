import type { DescField, DescMessage } from '@bufbuild/protobuf'
import { misspelt } from '../../text/misspelt.js'

/** Comments and strings of CEL: raw ones end at the next quote, in others a backslash hides it. */
export const NO_CODE =
  /\/\/.*|[bB]?[rR][bB]?(?:"""[^]*?"""|'''[^]*?'''|"[^"\n]*"|'[^'\n]*')|"""[^]*?"""|'''[^]*?'''|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/g
/** Fields one behind the other; what is called is a function. */
const CHAIN = /(?<![\w.])this((?:\s*\.\s*[A-Za-z_]\w*\b(?!\s*\())+)/g

/**
 * Says that an expression names a field that `this` does not have, which would fail in each call. What a
 * macro binds, and what is behind lists, maps and messages of `google.protobuf`, is not looked at.
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

/** Expressions have others in the place of well-known types, such as times. */
export const withFields = (desc: DescMessage): DescMessage | undefined =>
  desc.typeName.startsWith('google.protobuf.') ? undefined : desc
