import { reportLines } from '../from-entities/entity-lines.js'
import type { Paint } from '../output/paint.js'
import type { FromDatabase } from './database-resources.js'

/** Formats the report of `generate from-entities`, and the tables and views without a class. */
export const databaseLines = (made: FromDatabase, paint: Paint): readonly string[] => [
  ...reportLines(made, paint),
  ...(made.leftOut.length === 0 ? [] : ['']),
  ...made.leftOut.map(({ table, reason }) => `${paint.bold(table)}: left out: ${reason}`),
]
