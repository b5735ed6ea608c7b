import type { HandOver } from '../values/hand-over.js'
import { quoted } from '../values/quoted.js'

/** A setting that lasts as long as the transaction, which is the round trip outside of others. */
const settingOf = (number: number): string => `'ashlar.kept_${number}'`

/** The list is read once, and the condition on its values is evaluated once, before the first row is returned. */
export const postgresHandOver: HandOver = {
  keeping: (list, columns) => {
    const kept = columns.map(
      (column, number) => `set_config(${settingOf(number)}, array_agg(${quoted(column, '"')})::text, true)`,
    )
    return `WITH "(page)" AS MATERIALIZED (${list}) SELECT * FROM "(page)" WHERE (SELECT ${kept.join(' || ')} FROM "(page)") IS NOT NULL`
  },
  // In a query of its own the text is read once, and not for every row that is compared.
  kept: (number) => `(SELECT NULLIF(current_setting(${settingOf(number)}, true), '')::text[])::text[]`,
}
