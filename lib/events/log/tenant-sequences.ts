import { padToPowerOfTwo } from '../../persistence/dialects/values/pad-to-power-of-two.js'
import type { Database, Executor, Result, Statement } from '../../persistence/engines/executor/executor.js'
import { type SqlText, sqlText } from '../../persistence/engines/sql-text.js'

/** An event that gets a log position. */
interface Placed {
  readonly position: number
  readonly account: string
  readonly log_position: number
}

/** An event with its number in its tenant's sequence. */
export interface Numbered {
  readonly position: number
  readonly log_position: number
  readonly event_seq: number
  readonly event_epoch: number
}

/** The policies of `tenant_event_policy`: 1 numbers events without gaps, 0 does not number them. */
const GAP_FREE = 1

/**
 * Numbers the events of the tenants in `tenant_event_policy`, starting at 1 and without gaps. Only the
 * sequencer writes `tenant_event_seq`. If events wrote it, all writers of a tenant would wait for one row.
 */
export class TenantSequences {
  readonly #sql: SqlText
  readonly #create: Statement
  readonly #advance: Statement

  constructor(database: Database) {
    this.#sql = sqlText(database)
    const { insertNew, statement, table } = this.#sql
    const sequences = table('tenant_event_seq')
    this.#create = statement(insertNew(sequences, ['account_id', 'next_seq'], ['?', '1']))
    this.#advance = statement(`UPDATE ${sequences} SET next_seq = ? WHERE account_id = ?`)
  }

  /**
   * Numbers the events of tenants.
   *
   * @param events - the events in log order.
   * @returns undefined if numbering is off.
   */
  async number(on: Executor, events: readonly Placed[]): Promise<Numbered[] | undefined> {
    const accounts = [...new Set(events.map(({ account }) => account))]
    const epochs = await this.#epochs(on, accounts)
    if (epochs.size === 0) return undefined
    const sequences = await this.#sequences(on, [...epochs.keys()])
    const numbered = events.map(({ position, account, log_position }) => {
      const next = sequences.get(account)
      if (next === undefined) return { position, log_position, event_seq: 0, event_epoch: 0 }
      sequences.set(account, next + 1)
      return { position, log_position, event_seq: next, event_epoch: epochs.get(account) ?? 0 }
    })
    for (const [account, next] of sequences) await on.run(this.#advance, [next, account])
    return numbered
  }

  /** Returns the epoch of each tenant. */
  async #epochs(on: Executor, accounts: readonly string[]): Promise<Map<string, number>> {
    const { rows } = await this.#of(
      on,
      accounts,
      (keys) =>
        `SELECT tenant_id, event_epoch FROM ${this.#sql.table('tenant_event_policy')} WHERE policy = ${GAP_FREE} AND tenant_id IN (${keys})`,
    )
    return byTenant(rows)
  }

  /** Returns the next number of each tenant. */
  async #sequences(on: Executor, accounts: readonly string[]): Promise<Map<string, number>> {
    for (const account of accounts) await on.run(this.#create, [account])
    const { rows } = await this.#of(
      on,
      accounts,
      (keys) =>
        `SELECT account_id, next_seq FROM ${this.#sql.table('tenant_event_seq')} WHERE account_id IN (${keys})`,
    )
    return new Map([...byTenant(rows)].map(([account, next]) => [account, Math.max(next, 1)]))
  }

  #of(on: Executor, accounts: readonly string[], text: (keys: string) => string): Promise<Result> {
    const keys = padToPowerOfTwo(accounts)
    return on.run(this.#sql.statement(text(keys.map(() => '?').join(', '))), keys)
  }
}

const byTenant = (rows: Result['rows']): Map<string, number> =>
  new Map(rows.map(([tenant, number]) => [String(tenant), Number(number)]))
