import { GATHERED, PAGE } from '../values/gathered.js'
import type { HandOver } from '../values/hand-over.js'
import { quoted } from '../values/quoted.js'

/**
 * Settings that last as long as the transaction, which is the round trip outside of others. Later they are
 * empty.
 */
const settingOf = (number: number): string => `'ashlar.kept_${number}'`
const textSettingOf = (number: number): string => `'ashlar.text_${number}'`

/**
 * A condition that keeps a value is evaluated once, before the first row is returned. It is always true, or
 * always false, because the value that is set is returned and never NULL: without rows it is `{}`. A
 * statement that runs on another server than the page finds no value, or an empty one of an earlier
 * transaction. Then it fails, and does not read that there are no rows.
 */
export const postgresHandOver: HandOver = {
  keeping: (columns) => {
    const kept = columns.map(
      (column, number) =>
        `set_config(${settingOf(number)}, COALESCE(array_agg(${column})::text, '{}'), true)`,
    )
    return `(SELECT ${kept.join(' || ')} FROM ${quoted(PAGE, '"')}) IS NOT NULL`
  },
  // In a query of its own the text is read once, and not for every row that is compared.
  kept: (number, type) => `(SELECT current_setting(${settingOf(number)})::text[])::${type}`,
  // The gathering query has a WITH, so the two conditions stay separate: the page's first.
  keepingText: (number, gathering) =>
    `SELECT 1 FROM (${gathering}) AS kept WHERE set_config(${textSettingOf(number)}, ${GATHERED}::text, true) IS NULL`,
  withTexts: (count, gathering) => {
    const texts = Array.from(
      { length: count },
      (_, number) => `current_setting(${textSettingOf(number)}, true)`,
    )
    // If a query is planned in parallel, PostgreSQL copies all settings to each worker. A query that sets one
    // is not planned in parallel.
    const ended = `set_config(${textSettingOf(count)}, '', true) IS NOT NULL`
    return `SELECT ${[GATHERED, ...texts].join(', ')} FROM (${gathering}) AS last WHERE ${ended}`
  },
}
