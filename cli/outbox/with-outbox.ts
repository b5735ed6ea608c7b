import type { DataSource } from 'typeorm'
import { Failure } from '../errors/failure.js'

/** The parsed flags of a command that looks at an outbox. */
export interface OutboxFlags {
  readonly url: string
  readonly schema?: string | undefined
}

/**
 * Runs `work` with a connected DataSource.
 * @throws {Failure} for a URL that cannot be used, and what the database refuses.
 */
export async function withDataSource<T>(
  { url, schema }: OutboxFlags,
  work: (dataSource: DataSource) => Promise<T>,
): Promise<T> {
  await sayDatabase({ url, schema })
  const { HotDataSource } = await import('../../lib/persistence/index.js')
  const dataSource = await attempt('input', () =>
    Promise.resolve(
      new HotDataSource({ dsn: url, entities: [], ...(schema === undefined ? {} : { schema }) }),
    ),
  )
  await attempt('database', () => dataSource.initialize())
  try {
    await attempt('database', () => checkOutbox(dataSource, schema))
    return await attempt('database', () => work(dataSource))
  } finally {
    await dataSource.destroy()
  }
}

/** The first line on stderr. SQLite has no address; and what is no URL is refused where it is used. */
async function sayDatabase({ url, schema }: OutboxFlags): Promise<void> {
  const [{ migrate }, { connectionString }, { databaseText }, { terminalLine }] = await Promise.all([
    import('../../lib/migrations/index.js'),
    import('../migrate/connection-string.js'),
    import('../migrate/headings.js'),
    import('../output/terminal-line.js'),
  ])
  try {
    const { database } = migrate({ url: await connectionString(url), files: {} })
    if (database === undefined) return
    const { dialect, name, server } = database
    const text = databaseText({ dialect, name, server, ...(schema !== undefined && { schema }) })
    process.stderr.write(`${terminalLine(text)}\n`)
  } catch {
    // Refused below, or SQLite.
  }
}

/** @throws {Failure} where the tables are not there, or are older than this command. */
async function checkOutbox(dataSource: DataSource, schema: string | undefined): Promise<void> {
  const prefix = schema === undefined ? '' : `${dataSource.driver.escape(schema)}.`
  try {
    await dataSource.query(`SELECT log_position FROM ${prefix}outbox_dispatch_cursor WHERE 1 = 0`)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Failure('database', `there is no outbox, or an older one: run ashlar migrate up (${reason})`)
  }
}

async function attempt<T>(exit: 'input' | 'database', work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Failure) throw error
    // Options that mean nothing come from flags.
    const isInput = error instanceof TypeError || error instanceof RangeError
    throw new Failure(isInput ? 'input' : exit, error instanceof Error ? error.message : String(error), {
      cause: error,
    })
  }
}
