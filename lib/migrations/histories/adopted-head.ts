import { MigrationError } from '../../errors.js'
import type { Session } from '../session/session.js'
import type { Script } from '../sql/statements.js'
import { foreignTool, type Head } from './foreign.js'

const MARKS = /ashlar:adopted (\S+) at (\d+) ([0-9a-f]{12})/g

/** The comment of a file that holds what another tool made up to that head. */
export const adoptedComment = (table: string, { count, digest }: Head): string =>
  `-- ashlar:adopted ${table} at ${count} ${digest}`

/** What the last of these files says that it holds; undefined where none says anything. */
function adoptedHead(
  scripts: readonly Pick<Script, 'comments'>[],
): (Head & { readonly table: string }) | undefined {
  const marks = scripts.flatMap(({ comments }) => comments.flatMap((comment) => [...comment.matchAll(MARKS)]))
  const [, table, count, digest] = marks.at(-1) ?? []
  return table === undefined || digest === undefined ? undefined : { table, count: Number(count), digest }
}

/**
 * Refuses a schema that another tool has changed after it was taken over: what it did is in no file, so that other databases would
 * lack it. A database without its history is one that these files made.
 * @throws {MigrationError} `foreign`, with what to do.
 */
export async function refuseMoved(
  session: Session,
  scripts: readonly Pick<Script, 'comments'>[],
): Promise<void> {
  const adopted = adoptedHead(scripts)
  const found = adopted && (await foreignTool(session))
  if (found === undefined || adopted === undefined || found.table !== adopted.table) return
  if (found.head.digest === adopted.digest) return
  throw new MigrationError(
    'foreign',
    `${found.tool} has changed this schema since it was taken over: its table ${found.table} lists ${listed(found.head.count)}, ` +
      `and the files hold what ${adopted.count} made. Nothing is changed. Undo it with ${found.tool}; or write what it did into the next ` +
      `version, begin that file with the line ${adoptedComment(found.table, found.head)}, and run ashlar migrate resolve --applied ` +
      'with the number of that version where it is done already',
  )
}

const listed = (count: number): string => (count === 1 ? '1 migration' : `${count} migrations`)
