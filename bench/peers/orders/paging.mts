import { createHash } from 'node:crypto'
import type { SelectQueryBuilder } from 'kysely'
import { sql } from 'kysely'
import { invalid } from './problems.mjs'

export interface PageQuery {
  readonly page_size?: number
  readonly page_token?: string
}

export const PAGE = { page_size: { type: 'integer', minimum: 0 }, page_token: { type: 'string' } }

/** Returns one page in key order. A token is valid only for the list that returned it. */
export async function pageOf<DB, T extends keyof DB, Row extends { readonly id: string }>(
  query: SelectQueryBuilder<DB, T, Row>,
  { page_size, page_token, ...others }: PageQuery,
  scope: readonly unknown[],
): Promise<{ rows: Row[]; token: string }> {
  const size = Math.min(page_size || 50, 1000)
  const list = createHash('sha256')
    .update(JSON.stringify([scope, others]))
    .digest('base64url')
  let from = query
  if (page_token) {
    const [of, id] = readToken(page_token)
    if (of !== list) throw invalid('page_token', 'is of another list')
    from = from.where(sql<boolean>`id > ${id}`)
  }
  const rows = (await from
    .orderBy(sql`id`)
    .limit(size + 1)
    .execute()) as Row[]
  if (rows.length <= size) return { rows, token: '' }
  rows.length = size
  const token = Buffer.from(JSON.stringify([list, rows.at(-1)?.id])).toString('base64url')
  return { rows, token }
}

function readToken(token: string): readonly [unknown, unknown] {
  try {
    const [list, id] = JSON.parse(Buffer.from(token, 'base64url').toString()) as unknown[]
    if (typeof id === 'string') return [list, id]
  } catch {
    // Not a token of this server.
  }
  throw invalid('page_token', 'is malformed')
}
