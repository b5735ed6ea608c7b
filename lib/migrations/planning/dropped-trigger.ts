import type { Session } from '../session/session.js'
import { Cursor, indexOfWords, isWord } from '../sql/cursor.js'
import { tableAfter } from '../session/effect.js'
import { dropped } from '../sql/statement-shape.js'
import type { Statement } from '../sql/split-statements.js'

/** A trigger that a statement drops, as far as it is known from the files or the database. */
export interface DroppedTrigger {
  readonly name: string
  readonly table: string | undefined
  /** The trigger's event, such as `BEFORE INSERT OR UPDATE`. */
  readonly when: string | undefined
}

/**
 * Returns the trigger that a statement drops, or undefined if it drops none. MySQL's DROP TRIGGER does not
 * name the table.
 *
 * @param before - the statements that run earlier or have already run.
 */
export async function droppedTrigger(
  session: Session,
  statement: Statement,
  before: readonly Statement[],
): Promise<DroppedTrigger | undefined> {
  const drop = dropped(statement)
  const path = drop?.what === 'TRIGGER' ? drop.paths[0] : undefined
  if (path === undefined) return undefined
  const name = path.join('.')
  const table = tableAfter('ON', statement.tokens)
  const made = before.flatMap((one) => createdTrigger(one) ?? [])
  const found = made.findLast(
    (one) => one.name === path.at(-1) && (table === undefined || one.table === table),
  )
  return { ...(found ?? (await inDatabase(session, path, table)) ?? { table, when: undefined }), name }
}

/**
 * The words that can follow TRIGGER and its name. They do not follow in a function that returns a trigger.
 */
const TIMINGS = ['BEFORE', 'AFTER', 'INSTEAD']

function createdTrigger({ tokens }: Statement): DroppedTrigger | undefined {
  const at = indexOfWords(tokens, 'TRIGGER')
  if (!isWord(tokens[0], 'CREATE') || at < 0) return undefined
  const cursor = new Cursor(tokens.slice(at + 1))
  cursor.take('IF', 'NOT', 'EXISTS')
  const name = cursor.path()?.at(-1)
  const [when, table] = [cursor.rest.slice(0, indexOfWords(cursor.rest, 'ON')), tableAfter('ON', cursor.rest)]
  if (name === undefined || !TIMINGS.some((word) => isWord(when[0], word))) return undefined
  return {
    name,
    table,
    when: when
      .map(({ text }) => text)
      .join(' ')
      .replaceAll(' ,', ','),
  }
}

async function inDatabase(
  session: Session,
  path: readonly string[],
  on: string | undefined,
): Promise<Pick<DroppedTrigger, 'table' | 'when'> | undefined> {
  const [name = '', schema = session.schema] = [...path].reverse()
  const [inSchema, values] = session.engine.versionTable.inSchema(schema)
  const rows = await session.rows(
    `SELECT name, timing, event FROM (
       SELECT event_object_schema AS table_schema, event_object_table AS name, trigger_name AS called,
         action_timing AS timing, event_manipulation AS event FROM information_schema.triggers
     ) AS known WHERE called = ? AND ${inSchema} ORDER BY event`,
    [name, ...values],
  )
  const ours = on === undefined ? rows : rows.filter((row) => row.name === on.split('.').at(-1))
  const [first] = ours
  return (
    first && {
      table: on ?? String(first.name),
      when: `${String(first.timing)} ${ours.map(({ event }) => String(event)).join(' OR ')}`,
    }
  )
}
