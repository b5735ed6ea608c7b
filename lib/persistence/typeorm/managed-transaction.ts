import type { DataSource, EntityManager, QueryRunner } from 'typeorm'
import type { Dialect } from '../dialects/dialect.js'
import type { RunOptions } from '../engines/executor/executor.js'

/** The transaction in which TypeORM's manager works. */
export interface ManagedTransaction {
  readonly dataSource: DataSource
  readonly dialect: Dialect
  /** Returns a query runner on the transaction's connection, which does not wait for turns. */
  queryRunner(): QueryRunner
  /** Waits for a turn and runs `send`, which uses such a query runner. Rejects with Ashlar's errors. */
  send<T>(send: () => Promise<T>, options?: RunOptions): Promise<T>
  /** Makes the transaction wait for a call. */
  perform<T>(name: string, work: () => Promise<T>): Promise<T>
  watch(given: Promise<unknown>): void
  /** Runs `fn` in a savepoint, like `transaction`. */
  nestManager<T>(fn: (manager: EntityManager) => Promise<T>): Promise<T>
  /** Opens a savepoint that the caller ends. */
  nestOpen(): Promise<OpenSavepoint>
  afterCommit(fn: () => unknown): void
}

export interface OpenSavepoint {
  readonly transaction: ManagedTransaction
  commit(): Promise<void>
  rollBack(): Promise<void>
}
