import { PAGE } from '../values/gathered.js'
import type { HandOver } from '../values/hand-over.js'

import { quoted } from '../values/quoted.js'

/** A setting that lasts as long as the transaction, which is the round trip outside of others. */
const settingOf = (number: number): string => `'ashlar.kept_${number}'`

/** The condition is evaluated once, before the first row is returned. */
export const postgresHandOver: HandOver = {
  keeping: (columns) => {
    const kept = columns.map(
      (column, number) => `set_config(${settingOf(number)}, array_agg(${column})::text, true)`,
    )
    return `(SELECT ${kept.join(' || ')} FROM ${quoted(PAGE, '"')}) IS DISTINCT FROM ''`
  },
  // In a query of its own the text is read once, and not for every row that is compared.
  kept: (number) => `(SELECT NULLIF(current_setting(${settingOf(number)}, true), '')::text[])::text[]`,
}
