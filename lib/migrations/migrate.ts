import { engineOf } from './engines.js'
import { type ComparedModel, diff, type DiffOptions, type DiffResult } from './diff.js'
import type { Dialect } from './files/dialect.js'
import type { FileSource } from './files/migration-files.js'
import type { Finding } from './lint/lint.js'
import { readSet } from './migration-set.js'
import { resolveOptions } from './resolve-options.js'
import type { MigrateOptions } from './session/options.js'
import { down, type DownResult, up, type UpResult } from './runner.js'
import { type SchemaComparison, status, verify, type VersionStatus } from './status.js'

/** A module's migrations for one database. Every call opens its own connection and closes it. */
export interface Migrator {
  /** Applies every missing version. Safe on any number of hosts at once: one works, the others wait. */
  up(): Promise<UpResult>
  /** Rolls back every version above `to`, with the stored SQL when the files are missing; 0 rolls everything back. */
  down(to: number): Promise<DownResult>
  /** The state of the database. Changes nothing. */
  status(): Promise<readonly VersionStatus[]>
  /**
   * What differs from the files, one line each. Changes nothing.
   * @param compare - a further comparison, such as `schemaComparison(entities)` of `ashlar/persistence`.
   */
  verify(compare?: SchemaComparison): Promise<readonly string[]>
  /** The findings of lint. Opens no connection. */
  lint(): Promise<readonly Finding[]>
  /**
   * What turns the schema of the files into the model's. Makes databases for the comparison on the same server, and drops them.
   * @param model - such as `schemaModel(entities)` of `ashlar/persistence`.
   * @throws {MigrationError} `denied` where the user may make no database.
   */
  diff<Tables, Changes>(
    model: ComparedModel<Tables, Changes>,
    options?: DiffOptions,
  ): Promise<DiffResult<Changes>>
}

/**
 * @throws {DeclarationError} with every option that cannot be used; or a database that runs no versioned SQL.
 * @example
 * ```ts
 * import { migrate } from 'ashlar/migrations'
 *
 * const { applied } = await migrate({ url: 'postgres://localhost/shop', files: 'migrations', module: 'shop' }).up()
 * console.log(applied)
 * ```
 */
export function migrate(options: MigrateOptions): Migrator {
  const resolved = resolveOptions(options)
  return {
    up: () => up(resolved),
    down: (to) => down(resolved, to),
    status: () => status(resolved),
    verify: (compare) => verify(resolved, compare),
    diff: (model, how) => diff(resolved, model, how),
    lint: async () => (await readSet(resolved.files, resolved.engine, resolved.statementTimeoutMs)).findings,
  }
}

/**
 * The findings of lint in a module's files for one engine. Opens no connection.
 * @param statementTimeoutMs - how long a statement may run, for the findings that name a number of rows; default 60000.
 * @throws {DeclarationError} with every misnamed, missing, doubled or misplaced file.
 */
export async function lintFiles(
  files: FileSource,
  dialect: Dialect,
  statementTimeoutMs?: number,
): Promise<readonly Finding[]> {
  return (await readSet(files, engineOf(dialect), statementTimeoutMs)).findings
}
