import { databaseText, type Heading } from '../../cli/migrate/headings.js'
import { type Dialect, migrate, problemsOf } from '../../lib/migrations/index.js'
import { isAskedOn } from '../support/databases/forms.js'
import { type DatabaseSource, databaseSource, type FreshDatabase } from './fresh-database.js'

interface Engines {
  readonly dialects?: readonly Dialect[]
  /**
   * True for a database without a table; else each case starts with the baseline applied, which is much
   * quicker.
   */
  readonly empty?: boolean
}

/** Describes the same behaviour on every engine. No case sees what another one left in the database. */
export function onEachEngine(
  subject: string,
  cases: (database: () => FreshDatabase, dialect: Dialect) => void,
  { dialects = ['postgres', 'mysql'], empty = false }: Engines = {},
): void {
  for (const dialect of dialects.filter((one) => isAskedOn(one, subject)))
    describe(`${subject} on ${dialect}`, () => {
      let source: DatabaseSource | undefined
      let database: FreshDatabase | undefined

      before(async function () {
        source = await databaseSource(dialect, empty)
        if (source === undefined) this.skip()
      })

      beforeEach(async () => {
        database = await source?.next()
      })

      after(() => source?.close())

      cases(() => {
        if (database === undefined) throw new Error('no case runs without its database')
        return database
      }, dialect)
    })
}

/** What a command says of the database that it works on. @param heading - of one that works elsewhere. */
export function saidOf({ url }: FreshDatabase, heading: Heading = databaseText): string {
  const { database } = migrate({ url, files: {} })
  return database === undefined ? '' : `${heading(database)}\n`
}

/** `0002_a` with an up migration and down, or only with an up migration. */
export const file = (name: string, up: string, down?: string): Record<string, string> => ({
  [`${name}.up.sql`]: up,
  ...(down === undefined ? {} : { [`${name}.down.sql`]: down }),
})

/** `0002_t2` and so on: each makes one table. */
export const tables = (...numbers: readonly number[]): Record<string, string> =>
  Object.assign(
    {},
    ...numbers.map((number) =>
      file(
        `${String(number).padStart(4, '0')}_t${number}`,
        `CREATE TABLE t${number} (id bigint PRIMARY KEY)`,
        `DROP TABLE t${number}`,
      ),
    ),
  ) as Record<string, string>

/** Why a call of a migrator failed, as its first problem. */
export const problemOf = (failure: unknown): Readonly<Record<string, unknown>> | undefined =>
  problemsOf(failure)?.[0] as Readonly<Record<string, unknown>> | undefined

/** What `work` fails with; fails itself when it does not. */
export async function failureOf(work: Promise<unknown>): Promise<Error> {
  const failure: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (failure instanceof Error) return failure
  throw new Error('it did not fail')
}
