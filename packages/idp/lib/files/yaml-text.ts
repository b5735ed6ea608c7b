import { isScalar, parseDocument, Scalar, visit } from 'yaml'

/** A value of a YAML file. Every scalar is a string; null is a missing value. */
export type YamlValue = string | null | readonly YamlValue[] | { readonly [key: string]: YamlValue }

/**
 * Parses one YAML document. A plain scalar is the string in the file, such as `0123`, `1.50` or `true`. Merge
 * keys (`<<`) are supported.
 *
 * @throws SyntaxError if the text is not a complete YAML document.
 */
export function yamlText(text: string): YamlValue {
  const document = parseDocument(text, { logLevel: 'error', merge: true, stringKeys: false })
  const [mistake] = document.errors
  if (mistake !== undefined) throw new SyntaxError(`it is not valid YAML: ${firstLine(mistake.message)}`)
  visit(document, {
    Scalar: (_key, node) => {
      const isRead = typeof node.value !== 'string' && typeof node.value !== 'symbol' && node.value !== null
      if (isRead && isScalar(node)) node.value = asWritten(node)
    },
  })
  try {
    return document.toJS({ maxAliasCount: 100 }) as YamlValue
  } catch (error) {
    throw new SyntaxError(`it is not valid YAML: ${firstLine((error as Error).message)}`)
  }
}

const asWritten = (node: Scalar): string => node.source ?? String(node.value)

const firstLine = (message: string): string => (message.split('\n')[0] ?? '').replace(/:$/, '')

export const isMapping = (value: unknown): value is Readonly<Record<string, YamlValue>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
