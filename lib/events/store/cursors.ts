import type { Database, Row, Statement } from '../../persistence/engines/executor/executor.js'
import { sqlText } from '../../persistence/engines/sql-text.js'
import { prepareLog } from '../log/log-tables.js'
import { SEQUENCER } from '../log/sequencer.js'

/** The progress of a worker. */
export interface Cursor {
  readonly name: string
  /** The log position of the last event that is done. */
  readonly position: number
  /** The number of times its next event has failed. */
  readonly failures: number
}

/** A worker's cursor and lease. */
export interface KnownCursor extends Cursor {
  /**
   * The time in milliseconds until the lease ends. Negative if no process holds it, undefined if none ever
   * did.
   */
  readonly leaseMs: number | undefined
}

/** Reads and writes the rows of `outbox_dispatch_cursor`. */
export class Cursors {
  readonly #statements: ReturnType<typeof statementsFor>

  constructor(private readonly database: Database) {
    this.#statements = statementsFor(database)
  }

  /** Returns the position of a name, or 0 for a new one. */
  async open(name: string): Promise<number> {
    await prepareLog(this.database)
    const { create, find } = this.#statements
    await this.database.run(create, [name])
    const { rows } = await this.database.run(find, [name])
    return Number(rows[0]?.[0] ?? 0)
  }

  /**
   * Saves a cursor.
   *
   * @param owner - the owner of the name's lease.
   * @returns false if another process holds the lease.
   */
  async save({ name, position, failures }: Cursor, owner: string): Promise<boolean> {
    const { affected } = await this.database.run(this.#statements.save, [
      position,
      failures,
      name,
      name,
      owner,
    ])
    return affected === 1
  }

  /** Returns all cursors except the sequencer's. */
  async all(): Promise<KnownCursor[]> {
    await prepareLog(this.database)
    const { rows } = await this.database.run(this.#statements.all, [])
    return rows.map(cursorOf)
  }

  async remove(name: string): Promise<void> {
    await this.database.run(this.#statements.remove, [name])
  }
}

const cursorOf = ([name, position, failures, leaseMs]: Row): KnownCursor => ({
  name: String(name),
  position: Number(position ?? 0),
  failures: Number(failures),
  leaseMs: leaseMs === null ? undefined : Number(leaseMs),
})

const statementsFor = (
  database: Database,
): Readonly<Record<'create' | 'find' | 'save' | 'all' | 'remove', Statement>> => {
  const { insertNew, msUntil, statement, table } = sqlText(database)
  const [cursors, leases] = [table('outbox_dispatch_cursor'), table('outbox_leases')]
  return {
    create: statement(insertNew(cursors, ['name', 'log_position'], ['?', '0'])),
    find: statement(`SELECT log_position FROM ${cursors} WHERE name = ?`),
    save: statement(
      `UPDATE ${cursors} SET log_position = ?, head_failures = ? WHERE name = ? ` +
        `AND EXISTS (SELECT 1 FROM ${leases} l WHERE l.name = ? AND l.owner = ?)`,
    ),
    all: statement(
      `SELECT c.name, c.log_position, c.head_failures, ${msUntil('l.lease_until')} AS lease_ms FROM ${cursors} c ` +
        `LEFT JOIN ${leases} l ON l.name = c.name WHERE c.name <> '${SEQUENCER}' ORDER BY c.name`,
    ),
    remove: statement(`DELETE FROM ${cursors} WHERE name = ?`),
  }
}
