import type { DataSource, EntityManager, QueryRunner } from 'typeorm'
import type { Dialect } from '../dialects/dialect.js'
import type { RunOptions } from '../engines/executor/executor.js'

/** The transaction that TypeORM's manager works in. */
export interface ManagedTransaction {
  readonly dataSource: DataSource
  readonly dialect: Dialect
  /** A query runner that sends to the connection of the transaction, and does not ask whose turn it is. */
  queryRunner(): QueryRunner
  /** Waits for a turn, then for what `send` does with such a query runner. Rejects with our errors. */
  send<T>(send: () => Promise<T>, options?: RunOptions): Promise<T>
  /** Makes the transaction wait for a call. */
  perform<T>(name: string, work: () => Promise<T>): Promise<T>
  watch(given: Promise<unknown>): void
  /** Runs `fn` in a savepoint, as `transaction` does. */
  nestManager<T>(fn: (manager: EntityManager) => Promise<T>): Promise<T>
  /** Opens a savepoint that is ended from outside. */
  nestOpen(): Promise<OpenSavepoint>
  afterCommit(fn: () => unknown): void
}

export interface OpenSavepoint {
  readonly transaction: ManagedTransaction
  commit(): Promise<void>
  rollBack(): Promise<void>
}
