import type { Script } from './statements.js'

const MARK = /^(?:--|#|\/\*)\s*ashlar:backfill\b/

/** Whether a file says `-- ashlar:backfill`: its only statement is repeated until it writes no row. */
export const isBackfill = ({ comments }: Pick<Script, 'comments'>): boolean =>
  comments.some((comment) => MARK.test(comment))
