import { setTimeout as pause } from 'node:timers/promises'
import { problemsOf, problemText } from './messages/problem.js'
import { withSession } from './session/session.js'
import { plan, type PlannedTable } from './migration-plan.js'
import { up } from './runner.js'
import type { ResolvedOptions } from './session/migrate-options.js'
import { SessionError } from './session/session-error.js'

/** The result of applying a version to a copy. */
export interface TriedVersion {
  /** The version's name, such as `0002_widgets`. */
  readonly name: string
  /** False for the failed version, which is the last result. */
  readonly isApplied: boolean
  /** The number of rows per chunk, for a backfill. */
  readonly chunk: number | undefined
  /** The number of rows that it wrote, for a backfill. */
  readonly filled?: number
  /** The duration of its file in milliseconds, as in the last progress event. */
  readonly ms: number
  /**
   * The longest read and write of a table during the version, in milliseconds. Undefined if no table was
   * probed.
   */
  readonly longestReadMs: number | undefined
  readonly longestWriteMs: number | undefined
  /**
   * The locks that it held before its COMMIT on tables that the run did not create, such as `ACCESS EXCLUSIVE
   * on tasks`. Undefined if they were not measured: on MySQL, for a backfill, for a file that did not reach
   * its COMMIT, and for a file that runs outside a transaction.
   */
  readonly locks: readonly string[] | undefined
  /**
   * The reason why locks were not measured: MySQL does not report them, the version is a backfill, or it runs
   * outside a transaction.
   */
  readonly unmeasured?: 'server' | 'chunks' | 'outside'
  /** Tables that can no longer be read or written as before, with the server's messages. */
  readonly failures: readonly ProbeFailure[]
  /**
   * Tables whose storage it replaced, with their previous sizes. Undefined if this was not measured: on MySQL
   * without the PROCESS privilege.
   */
  readonly rewritten: readonly PlannedTable[] | undefined
}

/** A table that could be read or written before the version and no longer can. */
export interface ProbeFailure {
  readonly table: string
  readonly access: 'read' | 'write'
  readonly why: string
}

/**
 * Applies the missing versions to a copy of a database while other clients read and write the affected
 * tables. The writes change no rows. Like other writes they wait for table locks, but never for row locks.
 *
 * @param onVersion - called after each version, including a failed one.
 */
export async function dryRun(
  options: ResolvedOptions,
  onVersion: (version: TriedVersion) => void = () => undefined,
): Promise<readonly TriedVersion[]> {
  const pending = (await plan(options)).filter(({ rollBack }) => rollBack?.staysApplied !== true)
  const all = pending.flatMap(({ rollBack, statements }) =>
    [...(rollBack?.statements ?? []), ...statements].flatMap(({ tables }) => tables),
  )
  const tables = [...new Map(all.map((table) => [table.name, table])).values()].filter(
    ({ size }) => size !== undefined,
  )
  const probes = tables.flatMap(({ name }) => [
    new Probe(options, name, 'read'),
    new Probe(options, name, 'write'),
  ])
  const reasonOf = (chunk: number | undefined) => {
    if (chunk !== undefined) return 'chunks'
    return options.engine.hasTransactionalDdl ? 'outside' : 'server'
  }
  const running = probes.map((probe) => probe.run())
  try {
    await Promise.all(probes.map((probe) => probe.round()))
    const tried: TriedVersion[] = []
    const there = await storageOf(options)
    let before = there
    for (const { version: number, name, chunk } of pending) {
      for (const probe of probes) probe.longestMs = 0
      let locks: readonly string[] | undefined
      const failed = new Set(probes.map(({ failure }) => failure))
      const inspect: ResolvedOptions['inspect'] = async (session) => {
        const held = await session.engine.effects.locks(session)
        // No other client can wait for a table that this run created.
        const ours = held?.filter(({ table }) => table.includes('.') || there.has(table.replaceAll('"', '')))
        locks = ours?.map(({ lock, table }) => `${lock} on ${table}`)
      }
      let started = performance.now()
      let ms: number | undefined
      let filled: number | undefined
      const report: ResolvedOptions['report'] = (event) => {
        if (event.kind === 'file') started = performance.now()
        if (event.kind === 'done') ms = event.ms
        if (event.kind === 'filled') filled = event.rows - event.earlier
        options.report(event)
      }
      const [failure] = await up({ ...options, inspect, report }, number).then(
        () => [],
        (error: unknown) => [{ error }],
      )
      ms ??= Math.round(performance.now() - started)
      await Promise.all(probes.map((probe) => probe.round()))
      // After a lost connection, the tables' state is unknown.
      const after = await storageOf(options).catch(() => before)
      const isRewritten = ({ name: table }: PlannedTable) =>
        after.has(table) && before.has(table) && after.get(table) !== before.get(table)
      const version: TriedVersion = {
        name,
        isApplied: failure === undefined,
        chunk,
        ...(filled !== undefined && { filled }),
        ms,
        longestReadMs: longestOf(probes, 'read'),
        longestWriteMs: longestOf(probes, 'write'),
        locks,
        ...(failure === undefined && locks === undefined && { unmeasured: reasonOf(chunk) }),
        failures: probes.flatMap(({ failure }) => failure ?? []).filter((one) => !failed.has(one)),
        rewritten: tables.length > 0 && before.size === 0 ? undefined : tables.filter(isRewritten),
      }
      tried.push(version)
      onVersion(version)
      if (failure !== undefined) throw failure.error
      before = after
    }
    return tried
  } finally {
    for (const probe of probes) probe.end()
    await Promise.all(running)
  }
}

const BETWEEN_PROBES_MS = 5

/** Reads or writes one table repeatedly until this fails because the table has changed. */
class Probe {
  longestMs = 0
  failure: ProbeFailure | undefined
  #isOver = false
  readonly #waiting: (() => void)[] = []

  constructor(
    private readonly options: ResolvedOptions,
    private readonly table: string,
    readonly kind: 'read' | 'write',
  ) {}

  async run(): Promise<void> {
    try {
      await withSession({ ...this.options, signal: undefined }, 'read', async (session) => {
        const { name, key } = await session.engine.walk.find(session, this.table.split('.'))
        const [column] = key
        if (this.kind === 'write' && column === undefined) return
        const sql =
          this.kind === 'read' || column === undefined
            ? `SELECT 1 AS one FROM ${name} LIMIT 1`
            : `UPDATE ${name} SET ${column.name} = ${column.name} WHERE 1 = 0`
        while (!this.#isOver) {
          const started = performance.now()
          const waiting = this.#waiting.length
          await session.run(sql, 0)
          this.longestMs = Math.max(this.longestMs, performance.now() - started)
          for (const done of this.#waiting.splice(0, waiting)) done()
          await pause(BETWEEN_PROBES_MS)
        }
      })
    } catch (error) {
      const [problem] = problemsOf(error) ?? []
      const why = problem === undefined ? String(error) : problemText(problem)
      this.failure = { table: this.table, access: this.kind, why }
    } finally {
      this.end()
    }
  }

  /** Waits until a statement that begins after this call has finished. */
  round(): Promise<void> {
    return this.#isOver ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve))
  }

  end(): void {
    this.#isOver = true
    for (const done of this.#waiting) done()
  }
}

function longestOf(probes: readonly Probe[], kind: Probe['kind']): number | undefined {
  const found = probes.filter((probe) => probe.kind === kind)
  return found.length === 0 ? undefined : Math.round(Math.max(...found.map(({ longestMs }) => longestMs)))
}

/** Returns an id for each table's storage. Empty if the user may not read it. */
const storageOf = (options: ResolvedOptions): Promise<ReadonlyMap<string, string>> =>
  withSession({ ...options, signal: undefined }, 'read', async (session) => {
    const rows = await session
      .rows(session.engine.effects.storage, [session.schema])
      .catch((error: unknown) => {
        if (error instanceof SessionError && error.failure === 'denied') return []
        throw error
      })
    return new Map(rows.map(({ name, storage }) => [String(name), String(storage)]))
  })
