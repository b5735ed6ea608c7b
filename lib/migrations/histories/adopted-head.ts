import { stopped } from '../messages/problem.js'
import type { Session } from '../session/session.js'
import { type AppliedVersion, readAdopted } from '../session/version-table.js'
import type { Script } from '../sql/split-statements.js'
import { foreignTool, type Head } from './foreign.js'

const MARKS = /ashlar:adopted (\S+) at (\d+) ([0-9a-f]{12})/g

/**
 * Returns the comment of a file that contains another tool's changes up to that migration.
 * @internal
 */
export const adoptedComment = (table: string, { count, digest }: Head): string =>
  `-- ashlar:adopted ${table} at ${count} ${digest}`

/** A version with the comments of its file. */
interface Marked {
  readonly version: number
  readonly script: Pick<Script, 'comments'>
}

/** Returns the last of these comments, or undefined if no file has one. */
function adoptedHead(
  migrations: readonly Marked[],
): (Head & { readonly table: string; readonly version: number }) | undefined {
  const marks = migrations.flatMap(({ version, script }) =>
    script.comments.flatMap((comment) => [...comment.matchAll(MARKS)].map((mark) => ({ version, mark }))),
  )
  const { version, mark: [, table, count, digest] = [] } = marks.at(-1) ?? {}
  return version === undefined || table === undefined || digest === undefined
    ? undefined
    : { version, table, count: Number(count), digest }
}

/**
 * Rejects a schema that another tool migrates and that has no version of Ashlar yet. Otherwise Ashlar would
 * create its tables there, and two tools would change the schema.
 *
 * @throws {MigrationError} `foreign`, with the tool's name and advice.
 */
export async function refuseForeign(
  session: Session,
  rows: readonly AppliedVersion[],
  migrations: readonly Marked[],
): Promise<void> {
  if (rows.length > 0 || (await readAdopted(session)) !== undefined) return
  const found = await foreignTool(session)
  if (found === undefined) return
  const adopted = adoptedHead(migrations)
  const { tool, table } = found
  throw stopped('foreign', {
    kind: 'otherTool',
    tool,
    table,
    adopted: adopted?.table === table ? adopted.version : undefined,
    apart: session.engine.apart,
  })
}

/**
 * Rejects a schema that another tool has changed after its history was imported. No file contains that
 * change, so other databases would lack it. A database without the tool's history was created by these files
 * and passes.
 *
 * @throws {MigrationError} `foreign`, with advice.
 */
export async function refuseMoved(session: Session, migrations: readonly Marked[]): Promise<void> {
  const adopted = adoptedHead(migrations)
  const found = adopted && (await foreignTool(session))
  if (found === undefined || adopted === undefined || found.table !== adopted.table) return
  if (found.head.digest === adopted.digest) return
  const { tool, table, head } = found
  throw stopped('foreign', {
    kind: 'otherToolMoved',
    tool,
    table,
    count: head.count,
    adopted: adopted.count,
    comment: adoptedComment(table, head),
  })
}
