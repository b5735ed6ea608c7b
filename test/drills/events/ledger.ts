import { randomInt } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { DataSource } from 'typeorm'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { transaction } from '../../../lib/persistence/sql/transaction.js'
import { inAcme } from '../../conformance/repository/subject.js'
import { Counter } from '../../events/outbox-subject.js'

/**
 * `ledger` says what was committed: a row for each change of a counter that is there from the beginning, in
 * the transaction of the change. `effects` is written by a consumer, in the order in which it hears of them.
 */
export const tablesOf = (engine: 'postgres' | 'mysql'): readonly string[] => [
  'CREATE TABLE ledger (counter_id varchar(64) NOT NULL, number integer NOT NULL, PRIMARY KEY (counter_id, number))',
  `CREATE TABLE effects (position ${engine === 'postgres' ? 'bigserial' : 'bigint AUTO_INCREMENT'} PRIMARY KEY, counter_id varchar(64) NOT NULL, number integer NOT NULL)`,
]

const COUNTERS = 48
const FIRST = 'first-'
const idOf = (at: number) => `${FIRST}${String(at).padStart(2, '0')}`

type Note = (id: string, number: number) => Promise<void>

/**
 * Writes counters: new ones, and in transactions that take long, hold several changes or batches, or are
 * rolled back.
 */
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
        await this.#counters.create({ id: idOf(at), number: 0 })
        await note(idOf(at), 0)
      })
  }

  /** Writes until it is told to stop; failures of the database are part of it. */
  async write(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      try {
        this.written += await (randomInt(8) === 0 ? this.#createSome() : this.#changeSome())
      } catch (error) {
        if (!(error instanceof RolledBack)) await pause(50)
      }
    }
  }

  /** Each by itself, at the same time: a row and its event are one statement where the database can. */
  async #createSome(): Promise<number> {
    const created = await Promise.allSettled(
      Array.from({ length: 6 }, () => inAcme(() => this.#counters.create({ number: 0 }))),
    )
    return created.filter(({ status }) => status === 'fulfilled').length
  }

  async #changeSome(): Promise<number> {
    const [isBatch, isRolledBack] = [randomInt(3) === 0, randomInt(10) === 0]
    const some = Array.from({ length: isBatch ? randomInt(4, 24) : randomInt(1, 5) }, () =>
      randomInt(COUNTERS),
    )
    // In one order, so that writers do not wait for each other.
    const ids = [...new Set(some)].sort((a, b) => a - b).map(idOf)
    await this.#transaction(async (note) => {
      await (isBatch ? this.#changeTogether(ids, note) : this.#changeEach(ids, note))
      if (randomInt(12) === 0) await pause(randomInt(60))
      if (isRolledBack) throw new RolledBack()
    })
    return ids.length
  }

  async #changeEach(ids: readonly string[], note: Note): Promise<void> {
    for (const id of ids) {
      const { number } = await this.#counters.modify(id, (counter) => ({ number: counter.number + 1 }))
      await note(id, number)
    }
  }

  async #changeTogether(ids: readonly string[], note: Note): Promise<void> {
    const stored = await this.#counters.batchGet(ids, { lock: 'update' })
    const changed = await this.#counters.batchUpdate(
      stored.map(({ id, number }) => ({ key: id, entity: { number: number + 1 }, fieldMask: ['number'] })),
    )
    for (const { id, number } of changed) await note(id, number)
  }

  #transaction(work: (note: Note) => Promise<void>): Promise<void> {
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

/** What was committed: the changes of the first counters, and each counter that was created later. */
const COMMITTED = `SELECT counter_id, number FROM ledger UNION ALL SELECT id, number FROM counters WHERE id NOT LIKE '${FIRST}%'`

/** What was committed, by counter: the numbers in their order. */
export const ledgerOf = (dataSource: DataSource): Promise<Numbers> =>
  numbersIn(dataSource, `${COMMITTED} ORDER BY counter_id, number`)

/** What a consumer has written, by counter: the numbers in the order in which it did. */
export const effectsOf = (dataSource: DataSource): Promise<Numbers> =>
  numbersIn(dataSource, 'SELECT counter_id, number FROM effects ORDER BY position')

export const countCommitted = (dataSource: DataSource): Promise<number> => count(dataSource, COMMITTED)

export const countEffects = (dataSource: DataSource): Promise<number> =>
  count(dataSource, 'SELECT position FROM effects')

async function count(dataSource: DataSource, select: string): Promise<number> {
  const [row] = await dataSource.query<{ found: number }[]>(
    `SELECT COUNT(*) AS found FROM (${select}) rows_of_it`,
  )
  return Number(row?.found)
}

export type Numbers = ReadonlyMap<string, readonly number[]>

/** By counter, in the order in which they come. */
export function gathered(changes: Iterable<readonly [id: string, number: number]>): Numbers {
  const numbers = new Map<string, number[]>()
  for (const [id, number] of changes) {
    const known = numbers.get(id)
    if (known === undefined) numbers.set(id, [number])
    else known.push(number)
  }
  return numbers
}

async function numbersIn(dataSource: DataSource, text: string): Promise<Numbers> {
  const rows = await dataSource.query<{ counter_id: string; number: number }[]>(text)
  return gathered(rows.map(({ counter_id: id, number }) => [id, number]))
}
