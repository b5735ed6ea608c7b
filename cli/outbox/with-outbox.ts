import type { DataSource } from 'typeorm'
import { shellWord } from '../../lib/text/shell-word.js'
import type { HotOptions } from '../../lib/persistence/index.js'
import { Failure } from '../errors/failure.js'
import { databaseText } from '../migrate/headings.js'
import { terminalLine } from '../output/terminal-line.js'
import { type OutboxDatabase, outboxDatabase } from './outbox-database.js'

/** The parsed flags of a command that reads an outbox. */
export interface OutboxFlags {
  readonly url: string
  readonly schema?: string | undefined
}

/** The purpose of a connection. */
export interface Purpose {
  /** The options of the DataSource apart from its address. */
  readonly declared: Pick<HotOptions, 'entities' | 'entityPrefix' | 'namingStrategy'>
  readonly isFor: 'catalog' | 'outbox' | 'secrets'
}

/** Runs `work` like `connectedTo`, for an outbox with existing tables. */
export const withDataSource = <T>(
  flags: OutboxFlags,
  work: (dataSource: DataSource) => Promise<T>,
): Promise<T> => connectedTo(flags, { declared: { entities: [] }, isFor: 'outbox' }, work)

/**
 * Runs `work` with a connected DataSource.
 * @throws {Failure} for an invalid URL, and for the database's errors.
 */
export async function connectedTo<T>(
  flags: OutboxFlags,
  { declared, isFor }: Purpose,
  work: (dataSource: DataSource) => Promise<T>,
): Promise<T> {
  const { url, schema } = flags
  const database = await outboxDatabase(url, schema, isFor)
  const rights = RIGHTS[isFor]
  sayDatabase(database, schema)
  const { HotDataSource } = await import('../../lib/persistence/index.js')
  const dataSource = await asFailure(database, rights, () =>
    Promise.resolve(
      new HotDataSource({ dsn: url, ...declared, ...(schema === undefined ? {} : { schema }) }),
    ),
  )
  await dataSource.initialize().catch((error: unknown) => {
    throw database.connectionFailed(error)
  })
  try {
    return await asFailure(database, rights, async () => {
      if (isFor === 'outbox') await checkOutbox(dataSource, database, schema)
      return work(dataSource)
    })
  } finally {
    await dataSource.destroy()
  }
}

/** Prints the first line on stderr. It contains the schema if a flag names it. */
function sayDatabase({ address }: OutboxDatabase, schema: string | undefined): void {
  if (address === undefined) return
  const { dialect, name, server } = address
  const text = databaseText({ dialect, name, server, ...(schema !== undefined && { schema }) })
  process.stderr.write(`${terminalLine(text)}\n`)
}

const CURSORS = 'outbox_dispatch_cursor'

/** @throws {Failure} if the tables are missing or older than this command. */
async function checkOutbox(
  dataSource: DataSource,
  database: OutboxDatabase,
  schema: string | undefined,
): Promise<void> {
  const table = `${schema === undefined ? '' : `${dataSource.driver.escape(schema)}.`}${CURSORS}`
  const select = (what: string) => dataSource.query(`SELECT ${what} FROM ${table} WHERE 1 = 0`)
  try {
    await select('log_position')
  } catch (error) {
    if (database.failureOf(error) !== 'failed') throw error
    const isOlder = await select('name').then(
      () => true,
      () => false,
    )
    const text = isOlder ? olderText(schema) : await missingText(dataSource, database, schema)
    throw new Failure('database', terminalLine(text), { cause: error })
  }
}

const olderText = (schema: string | undefined): string =>
  `the outbox was created by an older release than this command: ${upCommand(schema)} upgrades its tables`

async function missingText(
  dataSource: DataSource,
  { address }: OutboxDatabase,
  schema: string | undefined,
): Promise<string> {
  const up = `${upCommand(schema)} creates its tables`
  if (address?.schema === undefined) return `there is no outbox in the database ${address?.name ?? ''}: ${up}`
  const here = `there is no outbox in the schema ${address.schema}`
  const rows: readonly { readonly name: string }[] = await dataSource.query(
    `SELECT table_schema AS name FROM information_schema.tables WHERE table_name = '${CURSORS}' ORDER BY table_schema`,
  )
  const [first, ...others] = rows.map(({ name }) => name)
  if (first === undefined) return `${here}, nor in another schema that this user can read: ${up}`
  const there = [first, ...others].join(', ')
  return `${here}, but there is one in ${there}: name it with --schema ${shellWord(first)}`
}

const upCommand = (schema: string | undefined): string =>
  `ashlar migrate up${schema === undefined ? '' : ` --schema ${shellWord(schema)}`}`

/** Runs `work` and converts its errors, which concern options given as flags, or the database. */
async function asFailure<T>(database: OutboxDatabase, rights: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Failure || !(error instanceof Error)) throw error
    const { message } = error
    if (error instanceof TypeError || error instanceof RangeError)
      throw new Failure('input', message, { cause: error })
    const isDenied = database.failureOf(error) === 'denied'
    throw new Failure('database', isDenied ? `${message}: ${rights}` : message, { cause: error })
  }
}

const RIGHTS: Readonly<Record<Purpose['isFor'], string>> = {
  catalog: 'connect as a user who may read the catalog and the definitions of functions',
  outbox:
    'connect as the user of the service, or grant this user SELECT on outbox, outbox_dispatch_cursor, outbox_leases and outbox_dead_letter, ' +
    'and also INSERT, UPDATE and DELETE for relay, replay and forget',
  secrets:
    'connect as the user of the service, or grant this user SELECT and UPDATE on the tables of the entities',
}
