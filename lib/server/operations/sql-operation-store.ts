import { fromBinary, toBinary } from '@bufbuild/protobuf'
import { StatusSchema } from 'ashlar-annotations/google/rpc/status_pb.js'
import { type Database, executorOf, named, type Statement } from '../../persistence/sql/transaction.js'
import {
  type OperationChange,
  type OperationFailure,
  type OperationRecord,
  type OperationStatus,
  type OperationStore,
  type Packed,
  WORKER_DIED,
  type WorkerView,
} from './operation-store.js'
import { failureStatus, storedFailure } from './operation-message.js'
import { bytesOf, keyPart, sqlText } from '../../persistence/engines/sql-text.js'

/** Options of a `SqlOperationStore`. */
export interface SqlOperationOptions {
  /** The time for which an ended operation is stored, in milliseconds. Default: 1 hour. */
  readonly ttlMs?: number
}

const HOUR_MS = 3_600_000

/**
 * Stores operations in the table `operations` of the baseline migration, for all processes that use the same
 * database.
 */
export class SqlOperationStore implements OperationStore {
  readonly #database: Database
  readonly #ttlMs: number
  readonly #statements: Statements
  #table: Promise<unknown> | undefined

  constructor(dataSource: Database['dataSource'], { ttlMs = HOUR_MS }: SqlOperationOptions = {}) {
    this.#database = executorOf(dataSource)
    this.#ttlMs = ttlMs
    this.#statements = statementsFor(this.#database)
  }

  checkWrites(): Promise<void> {
    return this.#database.checkWrites()
  }

  async create(record: OperationRecord, owner: string, leaseMs: number): Promise<void> {
    const { name, tenant, method, status, metadata } = record
    const values = [name, keyPart(tenant), method, status, ...packed(metadata), owner, leaseMs]
    await this.#run('create', values)
    await this.#run('sweep', [])
  }

  async write(
    name: string,
    owner: string,
    { metadata, end }: OperationChange,
    leaseMs: number,
  ): Promise<WorkerView> {
    const place = [name, owner]
    const { affected } =
      end !== undefined
        ? await this.#run('finish', [
            end.status,
            ...packed(metadata),
            ...packed(end.response ?? packedStatus(end.failure)),
            end.failure?.code ?? null,
            end.failure?.message ?? null,
            this.#ttlMs,
            ...place,
          ])
        : await this.#run('renew', [...packed(metadata), leaseMs, ...place])
    const { rows } = await this.#run('isCancelRequested', [name])
    return { isHeld: affected === 1, isCancelRequested: rows[0] !== undefined && isTrue(rows[0][0]) }
  }

  /** Returns the tenant's operation of that name; undefined if there is none. */
  async find(tenant: string, name: string): Promise<OperationRecord | undefined> {
    await this.#bury(tenant)
    const { rows } = await this.#run('find', [keyPart(tenant), keyPart(name)])
    return rows[0] === undefined ? undefined : recordOf(tenant, rows[0])
  }

  async list(tenant: string, after: string, limit: number): Promise<OperationRecord[]> {
    await this.#bury(tenant)
    const { rows } = await this.#run('list', [keyPart(tenant), keyPart(after), limit])
    return rows.map((row) => recordOf(tenant, row))
  }

  async requestCancel(tenant: string, name: string): Promise<boolean> {
    return (await this.#run('cancel', [keyPart(tenant), keyPart(name)])).affected === 1
  }

  async remove(tenant: string, name: string): Promise<boolean> {
    return (await this.#run('remove', [keyPart(tenant), keyPart(name)])).affected === 1
  }

  /** Marks operations whose worker died as failed. */
  async #bury(tenant: string): Promise<void> {
    const { code, message } = WORKER_DIED
    await this.#run('bury', [code, message, this.#ttlMs, keyPart(tenant)])
  }

  async #run(statement: keyof Statements, values: readonly unknown[]) {
    if (this.#database.dialect.ddl.migration === undefined) {
      this.#table ??= this.#prepare()
      await this.#table
    }
    return this.#database.run(this.#statements[statement], values)
  }

  /**
   * Creates the table in SQLite, which has no migrations, with an index that lets a cleanup skip most rows.
   */
  async #prepare(): Promise<void> {
    await this.#database.run(named(SQLITE_TABLE), [])
    await this.#database.run(named(SQLITE_INDEX), [])
  }
}

type Statements = Readonly<
  Record<
    | 'create'
    | 'renew'
    | 'finish'
    | 'isCancelRequested'
    | 'find'
    | 'list'
    | 'cancel'
    | 'remove'
    | 'bury'
    | 'sweep',
    Statement
  >
>

const IS_HELD = `name = ? AND lease_owner = ? AND status = 'pending'`

const statementsFor = (database: Database): Statements => {
  const { now, later, bound, bytesIn, statement, table } = sqlText(database)
  const operations = table('operations')
  const { text, bytes, integer } = bound
  const columns = `name, method, status, metadata_type, ${bytesIn('metadata')}, response_type, ${bytesIn('response')}, error_code, error_message`
  const isTheirs = `account_id = ? AND name = ?`
  const isAlive = `lease_until >= ${now}`
  return {
    create: statement(
      `INSERT INTO ${operations} (name, account_id, method, status, metadata_type, metadata, lease_owner, lease_until, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ${later}, ${now}, ${now})`,
    ),
    renew: statement(
      `UPDATE ${operations} SET metadata_type = COALESCE(${text}, metadata_type), metadata = COALESCE(${bytes}, metadata), lease_until = ${later}, updated_at = ${now} WHERE ${IS_HELD} AND ${isAlive}`,
    ),
    finish: statement(
      `UPDATE ${operations} SET status = ?, metadata_type = COALESCE(${text}, metadata_type), metadata = COALESCE(${bytes}, metadata), response_type = ${text}, response = ${bytes}, error_code = ${integer}, error_message = ${text}, expires_at = ${later}, updated_at = ${now} WHERE ${IS_HELD} AND ${isAlive}`,
    ),
    isCancelRequested: statement(`SELECT cancel_requested FROM ${operations} WHERE name = ?`),
    find: statement(`SELECT ${columns} FROM ${operations} WHERE ${isTheirs}`),
    list: statement(
      `SELECT ${columns} FROM ${operations} WHERE account_id = ? AND name > ? ORDER BY name LIMIT ?`,
    ),
    cancel: statement(`UPDATE ${operations} SET cancel_requested = TRUE WHERE ${isTheirs}`),
    remove: statement(`DELETE FROM ${operations} WHERE ${isTheirs}`),
    bury: statement(
      `UPDATE ${operations} SET status = 'failed', error_code = ?, error_message = ?, expires_at = ${later}, updated_at = ${now} WHERE account_id = ? AND status = 'pending' AND NOT (${isAlive})`,
    ),
    sweep: statement(`DELETE FROM ${operations} WHERE expires_at < ${now}`),
  }
}

const SQLITE_TABLE = `CREATE TABLE IF NOT EXISTS operations (
  name TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  method TEXT,
  status TEXT NOT NULL,
  metadata_type TEXT,
  metadata BLOB,
  response_type TEXT,
  response BLOB,
  error_code INTEGER,
  error_message TEXT,
  cancel_requested INTEGER NOT NULL DEFAULT 0,
  lease_owner TEXT,
  lease_until INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  expires_at INTEGER
)`

const SQLITE_INDEX = 'CREATE INDEX IF NOT EXISTS operations_expires_at ON operations (expires_at)'

const packed = (value: Packed | undefined): [string | null, Buffer | null] =>
  value === undefined ? [null, null] : [value.type, Buffer.from(value.value)]

/**
 * Packs a failure with details as a google.rpc.Status. It is stored in the response column, which a failed
 * operation does not use.
 */
const packedStatus = (failure: OperationFailure | undefined): Packed | undefined =>
  failure?.details === undefined
    ? undefined
    : { type: StatusSchema.typeName, value: toBinary(StatusSchema, failureStatus(failure)) }

const recordOf = (tenant: string, row: readonly unknown[]): OperationRecord => {
  const [name, method, status, metadataType, metadata, responseType, response, code, message] = row
  const result = unpacked(responseType, response)
  const hasFailed = code !== null
  return {
    name: String(name),
    tenant,
    method: String(method),
    status: status as OperationStatus,
    metadata: unpacked(metadataType, metadata),
    response: hasFailed ? undefined : result,
    failure: hasFailed ? failureIn(Number(code), String(message), result) : undefined,
  }
}

const failureIn = (code: number, message: string, status: Packed | undefined): OperationFailure =>
  status === undefined ? { code, message } : storedFailure(fromBinary(StatusSchema, status.value))

const unpacked = (type: unknown, value: unknown): Packed | undefined =>
  type === null ? undefined : { type: type as string, value: bytesOf(value) }

/** Converts a boolean column. PostgreSQL returns `t`, the other engines return 1. */
const isTrue = (value: unknown): boolean => value === 't' || value === true || Number(value) === 1
