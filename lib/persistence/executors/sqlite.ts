import { withoutValues } from '../../resource/driver-fault.js'
import type { Database, Executor, Lease, Result, RunOptions, Statement } from '../executor.js'
import type { SqliteDataSource } from '../sqlite.js'
import type { SqliteLease, SqliteLeases } from '../sqlite-leases.js'

/** Sends statements to the one connection of a SqliteDataSource. */
export class SqliteDatabase implements Database {
  readonly dialect = 'sqlite'

  constructor(readonly dataSource: SqliteDataSource) {}

  run(statement: Statement, values: readonly unknown[], options?: RunOptions): Promise<Result> {
    return send(this.#leases, statement, values, options)
  }

  async lease(options?: RunOptions): Promise<Lease> {
    return new SqliteExecutorLease(await this.#leases.lease(options?.signal))
  }

  get #leases(): SqliteLeases {
    const { leases } = this.dataSource
    if (leases === undefined)
      throw new TypeError('the DataSource is not initialized: await dataSource.initialize() first')
    return leases
  }
}

class SqliteExecutorLease implements Lease {
  readonly dialect: Executor['dialect'] = 'sqlite'

  constructor(private readonly lease: SqliteLease) {}

  run(statement: Statement, values: readonly unknown[], options?: RunOptions): Promise<Result> {
    return send(this.lease, statement, values, options)
  }

  async control(text: string): Promise<void> {
    await this.lease.run(text, [], 'array').catch(rethrow)
  }

  /** There is only one connection, so a broken one is rolled back rather than closed. */
  release({ broken = false } = {}): void {
    void this.lease.release(!broken)
  }
}

function send(
  on: SqliteLeases | SqliteLease,
  { text }: Statement,
  values: readonly unknown[],
  options: RunOptions | undefined,
): Promise<Result> {
  return on.run(text, values, 'array', options?.signal).catch(rethrow) as Promise<Result>
}

function rethrow(error: unknown): never {
  throw withoutValues(error)
}
