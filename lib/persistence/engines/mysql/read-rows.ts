import type { ReadLimit } from '../../bytes/read-limit.js'
import type { Row } from '../executor/executor.js'
import type { Connection } from './mysql-driver.js'

/** Runs a statement and reads its rows as they arrive, within a limit. */
export function readRows(
  limit: ReadLimit,
  connection: Connection,
  query: object,
  done: (error: Error | null, result?: unknown) => void,
): void {
  let rows: Row[] = []
  /** The response to a statement without rows. */
  let header: object | undefined
  let failed: Error | undefined
  const end = () => {
    connection.removeListener('error', lost)
    done(failed ?? (limit.isExceeded ? (limit.reason as Error) : null), header ?? rows)
  }
  // `mysql2` does not notify a statement without a callback that its connection was lost.
  const lost = (error: Error) => {
    failed = error
    end()
  }
  connection.on('error', lost)
  const reading = connection.execute(query)
  reading.on('result', (row) => {
    if (!Array.isArray(row)) header = row
    else if (limit.accepts(row.reduce<number>((sum, value) => sum + bytesOf(value), 0))) rows.push(row)
    else rows = []
  })
  reading.on('error', (error) => {
    failed = error
  })
  reading.on('end', end)
}

const bytesOf = (value: unknown): number =>
  typeof value === 'string' ? Buffer.byteLength(value) : value instanceof Uint8Array ? value.length : 0
