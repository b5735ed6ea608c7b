import { randomInt } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { DataSource } from 'typeorm'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { transaction } from '../../../lib/persistence/sql/transaction.js'
import { inAcme } from '../../conformance/repository/subject.js'
import { Counter } from '../../events/outbox-subject.js'

/**
 * `ledger` says what was committed: a row for each change, in the transaction of the change. `effects` is written by a consumer, in
 * the order in which it hears of them.
 */
export const tablesOf = (engine: 'postgres' | 'mysql'): readonly string[] => [
  'CREATE TABLE ledger (counter_id varchar(64) NOT NULL, number integer NOT NULL, PRIMARY KEY (counter_id, number))',
  `CREATE TABLE effects (position ${engine === 'postgres' ? 'bigserial' : 'bigint AUTO_INCREMENT'} PRIMARY KEY, counter_id varchar(64) NOT NULL, number integer NOT NULL)`,
]

export const COUNTERS = 24

/** Writes counters, in transactions that take long, hold several changes, or are rolled back. */
export class LedgerWriter {
  readonly #counters: InstanceType<ReturnType<typeof repositoryOf<Counter>>>
  /** Changes that were committed, as far as it was told. */
  written = 0

  constructor(private readonly dataSource: DataSource) {
    this.#counters = new (repositoryOf(Counter))(dataSource)
  }

  async createAll(): Promise<void> {
    for (let at = 0; at < COUNTERS; at++)
      await this.#transaction(async (note) => {
        await this.#counters.create({ id: `c${at}`, number: 0 })
        await note(`c${at}`, 0)
      })
  }

  /** Writes until it is told to stop; failures of the database are part of it. */
  async write(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const ids = new Set(Array.from({ length: randomInt(1, 5) }, () => `c${randomInt(COUNTERS)}`))
      const isRolledBack = randomInt(10) === 0
      try {
        await this.#transaction(async (note) => {
          // In one order, so that writers do not wait for each other.
          for (const id of [...ids].sort()) {
            const { number } = await this.#counters.modify(id, (counter) => ({ number: counter.number + 1 }))
            await note(id, number)
          }
          if (randomInt(8) === 0) await pause(randomInt(60))
          if (isRolledBack) throw new RolledBack()
        })
        this.written += ids.size
      } catch (error) {
        if (!(error instanceof RolledBack)) await pause(50)
      }
    }
  }

  #transaction(work: (note: (id: string, number: number) => Promise<void>) => Promise<void>): Promise<void> {
    return inAcme(() =>
      transaction(this.dataSource, ({ sql }) =>
        work(async (id, number) => {
          await sql`INSERT INTO ledger (counter_id, number) VALUES (${id}, ${number})`
        }),
      ),
    )
  }
}

class RolledBack extends Error {}

/** What was committed, by counter: the numbers in their order. */
export const ledgerOf = (dataSource: DataSource): Promise<Numbers> =>
  numbersIn(dataSource, 'SELECT counter_id, number FROM ledger ORDER BY counter_id, number')

/** What a consumer has written, by counter: the numbers in the order in which it did. */
export const effectsOf = (dataSource: DataSource): Promise<Numbers> =>
  numbersIn(dataSource, 'SELECT counter_id, number FROM effects ORDER BY position')

export async function count(dataSource: DataSource, table: 'ledger' | 'effects'): Promise<number> {
  const [row] = await dataSource.query<{ found: number }[]>(`SELECT COUNT(*) AS found FROM ${table}`)
  return Number(row?.found)
}

type Numbers = ReadonlyMap<string, readonly number[]>

async function numbersIn(dataSource: DataSource, text: string): Promise<Numbers> {
  const rows = await dataSource.query<{ counter_id: string; number: number }[]>(text)
  const numbers = new Map<string, number[]>()
  for (const { counter_id: id, number } of rows) {
    const known = numbers.get(id)
    if (known === undefined) numbers.set(id, [number])
    else known.push(number)
  }
  return numbers
}
