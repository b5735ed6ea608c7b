import { Document, isScalar, parseDocument, Scalar, visit } from 'yaml'
import type { Client } from './clients.js'

/**
 * Returns the clients file: a YAML list without a header. Strings that YAML 1.1 or 1.2 would read as another
 * type are quoted.
 */
export function toClientsFile(clients: readonly Client[]): string {
  const document = new Document(
    clients.map(({ client_id, client_secret, redirect_uris, tile }) => ({
      client_id,
      client_secret,
      redirect_uris,
      tile: {
        name: tile.name,
        description: tile.description,
        icon_url: tile.icon_url,
        launch_url: tile.launch_url,
      },
    })),
    { compat: 'yaml-1.1', aliasDuplicateObjects: false },
  )
  visit(document, {
    Scalar: (_key, node) => {
      if (isScalar(node) && typeof node.value === 'string' && READ_DIFFERENTLY.test(node.value))
        node.type = Scalar.QUOTE_DOUBLE
    },
  })
  return document.toString({ lineWidth: 0 }).replaceAll(LINE_ENDS_OF_1_1, (end) => ESCAPES[end] ?? end)
}

/** Returns the clients in an existing file by `client_id`; undefined if the file is not such a list. */
export function readClientsFile(text: string): ReadonlyMap<string, unknown> | undefined {
  const entries = parsed(text)
  if (!Array.isArray(entries)) return undefined
  const clients = new Map<string, unknown>()
  for (const entry of entries as readonly unknown[]) {
    const id = (entry as Partial<Client> | null)?.client_id
    if (typeof id !== 'string') return undefined
    clients.set(id, entry)
  }
  return clients
}

function parsed(text: string): unknown {
  try {
    const document = parseDocument(text, { logLevel: 'silent' })
    return document.errors.length > 0 ? undefined : document.toJS()
  } catch {
    return undefined
  }
}

/**
 * Matches strings that must be quoted. `=` has a special meaning in YAML 1.1, and only letters, signs and
 * plain spaces are safe without quotes.
 */
const READ_DIFFERENTLY = /^=$|[^\P{C}\n]|[^\P{Z} ]/u
/**
 * Matches characters that end a line in YAML 1.1 even in quotes, and byte order marks, which may get lost.
 */
const LINE_ENDS_OF_1_1 = /[\u0085\u2028\u2029\uFEFF]/g
const ESCAPES: Readonly<Record<string, string>> = {
  '\u0085': '\\N',
  '\u2028': '\\L',
  '\u2029': '\\P',
  '\uFEFF': '\\uFEFF',
}
