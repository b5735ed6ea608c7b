import { RequestContext } from '../../context.js'
import type { Database, Executor, Statement } from '../../persistence/engines/executor/executor.js'
import { sqlText } from '../../persistence/engines/sql-text.js'
import { atomically } from '../../persistence/sql/transaction.js'
import { prepareLog } from './log-tables.js'
import { TenantSequences } from './tenant-sequences.js'

/**
 * The row of `outbox_dispatch_cursor` that stores the last log position. A sequencer locks it while it works.
 */
export const SEQUENCER = 'sequencer'

/** The number of events that get a position in one transaction. */
const MAX_ROWS = 1000

/**
 * Assigns log positions to committed events. An event gets its `position` before it commits, so positions
 * become visible out of order, and a reader that followed them would miss some. `log_position` is only
 * assigned to committed events. It has no gaps, new values are always larger, and it preserves the order of
 * each resource's events. Any number of sequencers can run: a row lock lets one work at a time.
 */
export class Sequencer {
  readonly #statements: ReturnType<typeof statementsFor>
  readonly #sequences: TenantSequences

  constructor(private readonly database: Database) {
    this.#statements = statementsFor(database)
    this.#sequences = new TenantSequences(database)
  }

  /**
   * Assigns positions to a limited number of committed events.
   *
   * @returns the number of events.
   */
  async assign(): Promise<number> {
    await prepareLog(this.database)
    const { rows } = await this.database.run(this.#statements.peek, [])
    if (rows.length === 0) return 0
    return atomically(this.database, new RequestContext(), (on) => this.#assign(on), {
      isolation: 'read committed',
    })
  }

  /**
   * Assigns positions to all committed events.
   *
   * @returns the number of events.
   */
  async assignAll(): Promise<number> {
    let count = 0
    for (;;) {
      const assigned = await this.assign()
      count += assigned
      if (assigned < MAX_ROWS) return count
    }
  }

  async #assign(on: Executor): Promise<number> {
    const { find, place, advance } = this.#statements
    const last = await this.#lock(on)
    // Read after taking the lock, because another sequencer may have worked until then.
    const { rows } = await on.run(find, [])
    if (rows.length === 0) return 0
    const events = rows.map(([position, account], index) => ({
      position: Number(position),
      account: String(account),
      log_position: last + index + 1,
    }))
    const numbered = await this.#sequences.number(on, events)
    const [statement, items] =
      numbered === undefined
        ? [place, events.map(({ position, log_position }) => ({ position, log_position }))]
        : [this.#statements.placeNumbered, numbered]
    await on.run(statement, [JSON.stringify(items)])
    await on.run(advance, [last + rows.length])
    return rows.length
  }

  /**
   * Locks the row of the sequencer.
   *
   * @returns the last log position.
   */
  async #lock(on: Executor): Promise<number> {
    const { lock, create } = this.#statements
    let { rows } = await on.run(lock, [])
    if (rows.length === 0) {
      await on.run(create, [])
      ;({ rows } = await on.run(lock, []))
    }
    return Number(rows[0]?.[0] ?? 0)
  }
}

const statementsFor = (
  database: Database,
): Readonly<
  Record<'peek' | 'find' | 'place' | 'placeNumbered' | 'lock' | 'create' | 'advance', Statement>
> => {
  const { insertNew, statement, table } = sqlText(database)
  const {
    transactions: { rowLock },
    stores,
  } = database.dialect
  const [outbox, cursors] = [table('outbox'), table('outbox_dispatch_cursor')]
  const key = { column: 'position', index: 'outbox_position', whileNull: 'log_position' }
  const unsequenced = `FROM ${outbox} WHERE log_position IS NULL`
  const forUpdate = rowLock({ lock: 'update', wait: 'block' })
  return {
    peek: statement(`SELECT 1 AS found ${unsequenced} LIMIT 1`),
    find: statement(`SELECT position, account_id ${unsequenced} ORDER BY position LIMIT ${MAX_ROWS}`),
    place: statement(stores.updateRows(outbox, key, ['log_position'])),
    placeNumbered: statement(stores.updateRows(outbox, key, ['log_position', 'event_seq', 'event_epoch'])),
    lock: statement(`SELECT log_position FROM ${cursors} WHERE name = '${SEQUENCER}'${forUpdate}`),
    create: statement(insertNew(cursors, ['name', 'log_position'], [`'${SEQUENCER}'`, '0'])),
    advance: statement(`UPDATE ${cursors} SET log_position = ? WHERE name = '${SEQUENCER}'`),
  }
}
