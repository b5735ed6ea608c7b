import type { BackfillValue, RowBackfill } from '../files/row-backfill.js'
import { stopped } from '../messages/problem.js'
import type { Row } from './session.js'
import type { Step } from './step.js'
import type { WalkedTable } from './walk.js'

/**
 * Computes and writes the rows of a chunk in its transaction, and locks them.
 *
 * @param within - the condition of the chunk.
 * @returns the number of written rows.
 * @throws {MigrationError} if the function throws or returns an invalid change.
 */
export async function writeRows(
  { session, name: version, file }: Step,
  { reads, sets, row }: RowBackfill,
  { name: table, key }: WalkedTable,
  within: string,
): Promise<number> {
  const quoted = (column: string) => quote(column, session.engine.syntax.nameQuote)
  const columns = [
    ...key.map((column, at) => `${column.text(column.name)} AS k${at}`),
    ...reads.map((column, at) => `${quoted(column)} AS r${at}`),
  ]
  const found = await session.rows(`SELECT ${columns.join(', ')} FROM ${table} WHERE ${within} FOR UPDATE`)
  let written = 0
  for (const one of found) {
    const place = key.map((column, at) => column.equals(String(one[`k${at}`])))
    const changes = await changesOf(one)
    if (changes.length === 0) continue
    const set = changes.map(([column]) => `${quoted(column)} = ?`).join(', ')
    const where = key.map((column, at) => `${column.name} = ${place[at]?.sql ?? ''}`).join(' AND ')
    await session.rows(`UPDATE ${table} SET ${set} WHERE ${where}`, [
      ...changes.map(([, value]) => value),
      ...place.flatMap(({ values }) => values),
    ])
    written++
  }
  return written

  async function changesOf(one: Row): Promise<readonly (readonly [column: string, value: unknown])[]> {
    const which = () => key.map(({ column }, at) => `${column} ${String(one[`k${at}`])}`).join(', ')
    const failed = (why: string) =>
      stopped('failed', { kind: 'backfillRow', version, file, row: which(), why })
    let change: unknown
    try {
      change = await row(Object.fromEntries(reads.map((column, at) => [column, one[`r${at}`]])))
    } catch (error) {
      throw failed(error instanceof Error ? error.message : String(error))
    }
    if (change === undefined) return []
    if (typeof change !== 'object' || change === null || Array.isArray(change))
      throw failed('row must return an object with column values, or undefined')
    return Object.entries(change).flatMap(([column, value]: readonly [string, unknown]) => {
      if (!sets.includes(column)) throw failed(`row sets ${column}, which sets does not list`)
      if (value === undefined) return []
      if (!isValue(value))
        throw failed(`${column} is given a value that a column cannot store: pass JSON as a string`)
      return [[column, bound(value)] as const]
    })
  }
}

const quote = (name: string, mark: string): string => mark + name.replaceAll(mark, mark + mark) + mark

const isValue = (value: unknown): value is BackfillValue =>
  value === null ||
  ['string', 'number', 'bigint', 'boolean'].includes(typeof value) ||
  value instanceof Date ||
  value instanceof Uint8Array

function bound(value: BackfillValue): unknown {
  if (typeof value === 'bigint') return value.toString()
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value
}
