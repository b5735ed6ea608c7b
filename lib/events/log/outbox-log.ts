import { RequestContext } from '../../context.js'
import type { Database, Row, Statement } from '../../persistence/engines/executor/executor.js'
import { bytesOf, sqlText } from '../../persistence/engines/sql-text.js'
import { WakeUp } from '../../persistence/outbox/sql/wake-up.js'
import { atomically } from '../../persistence/sql/transaction.js'
import { type EventLog, eventsBehind, type LogEnds, type LoggedEvent } from './event-log.js'
import { STREAM_CURSOR } from './cursor-names.js'
import { prepareLog } from './log-tables.js'
import { Poll } from './poll.js'
import { SEQUENCER, Sequencer } from './sequencer.js'

/** The maximum number of events per read. */
const MAX_EVENTS = 100
/** The number of delivered events that one statement removes. */
const CHUNK = 1000

/** The log of a database's outbox. Each reader also assigns log positions. */
export class OutboxLog implements EventLog {
  readonly #sequencer: Sequencer
  readonly #statements: ReturnType<typeof statementsFor>

  constructor(private readonly database: Database) {
    this.#sequencer = new Sequencer(database)
    this.#statements = statementsFor(database)
  }

  async *read(after: number, signal: AbortSignal): AsyncGenerator<LoggedEvent> {
    await prepareLog(this.database)
    const poll = new Poll(WakeUp.of(this.database))
    try {
      for (let at = after; !signal.aborted;) {
        poll.begin()
        await this.#sequencer.assign()
        const { rows } = await this.database.run(this.#statements.read, [at])
        for (const row of rows) {
          const event = loggedEvent(row)
          yield event
          at = event.position
        }
        await poll.wait(rows.length > 0, signal)
      }
    } finally {
      poll.end()
    }
  }

  /** Removes the events that are before every cursor. */
  async prune(): Promise<void> {
    const { passed, first, remove } = this.#statements
    const end = await this.#number(passed)
    const start = await this.#number(first)
    if (end === undefined || start === undefined) return
    for (let at = start - 1; at < end; at += CHUNK)
      await atomically(
        this.database,
        new RequestContext(),
        (on) => on.run(remove, [at, Math.min(at + CHUNK, end)]),
        // Otherwise writers would wait for MySQL's gap locks.
        { isolation: 'read committed' },
      )
  }

  async ends(): Promise<LogEnds> {
    await prepareLog(this.database)
    const { first, last } = this.#statements
    // Query the first event first, so that no event precedes it.
    return { first: await this.#number(first), last: (await this.#number(last)) ?? 0 }
  }

  async behind(position: number): Promise<number> {
    // Query in this order, so that events that get a position meanwhile are counted.
    const unsequenced = await this.unsequenced()
    return eventsBehind(await this.ends(), position) + unsequenced
  }

  /** Returns the number of committed events without a log position. */
  async unsequenced(): Promise<number> {
    await prepareLog(this.database)
    return (await this.#number(this.#statements.unsequenced)) ?? 0
  }

  async #number(statement: Statement): Promise<number | undefined> {
    const { rows } = await this.database.run(statement, [])
    const value = rows[0]?.[0]
    return value === null || value === undefined ? undefined : Number(value)
  }
}

const statementsFor = (
  database: Database,
): Readonly<Record<'read' | 'passed' | 'first' | 'remove' | 'last' | 'unsequenced', Statement>> => {
  const { bytesIn, statement, table } = sqlText(database)
  const [outbox, cursors] = [table('outbox'), table('outbox_dispatch_cursor')]
  return {
    read: statement(
      `SELECT log_position, id, account_id, aggregate_type, aggregate_id, event_type, ${bytesIn('payload')}, event_seq, event_epoch ` +
        `FROM ${outbox} WHERE log_position > ? ORDER BY log_position LIMIT ${MAX_EVENTS}`,
    ),
    passed: statement(
      `SELECT MIN(log_position) AS passed FROM ${cursors} WHERE name <> '${SEQUENCER}' AND name NOT LIKE '${STREAM_CURSOR}%'`,
    ),
    first: statement(`SELECT MIN(log_position) AS first_position FROM ${outbox}`),
    remove: statement(`DELETE FROM ${outbox} WHERE log_position > ? AND log_position <= ?`),
    last: statement(`SELECT log_position FROM ${cursors} WHERE name = '${SEQUENCER}'`),
    unsequenced: statement(`SELECT COUNT(*) AS events FROM ${outbox} WHERE log_position IS NULL`),
  }
}

const loggedEvent = ([position, id, tenant, resource, key, type, payload, seq, epoch]: Row): LoggedEvent => ({
  position: Number(position),
  id: String(id),
  tenant: String(tenant),
  resource: String(resource),
  verb: String(type).slice(String(resource).length + 1),
  key: String(key),
  payload: bytesOf(payload),
  seq: Number(seq),
  epoch: Number(epoch),
})
