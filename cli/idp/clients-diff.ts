import { isDeepStrictEqual } from 'node:util'
import type { Client } from './clients.js'

/** The changes by `client_id` when a file is overwritten. */
export interface ClientsDiff {
  readonly added: readonly string[]
  /** The names of the changed fields. Values are omitted, because one of them is a secret. */
  readonly changed: readonly { readonly client_id: string; readonly fields: readonly string[] }[]
  readonly removed: readonly string[]
}

export function diffClients(before: ReadonlyMap<string, unknown>, after: readonly Client[]): ClientsDiff {
  const kept = new Set(after.map(({ client_id }) => client_id))
  return {
    added: [...kept].filter((id) => !before.has(id)),
    changed: after.flatMap((client) => {
      const fields = before.has(client.client_id) ? differing(before.get(client.client_id), client) : []
      return fields.length === 0 ? [] : [{ client_id: client.client_id, fields }]
    }),
    removed: [...before.keys()].filter((id) => !kept.has(id)).sort(),
  }
}

function differing(before: unknown, after: unknown, path = ''): readonly string[] {
  if (!isMapping(before) || !isMapping(after)) return isDeepStrictEqual(before, after) ? [] : [path]
  const keys = [...new Set([...Object.keys(after), ...Object.keys(before)])]
  return keys.flatMap((key) => differing(before[key], after[key], path === '' ? key : `${path}.${key}`))
}

const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
