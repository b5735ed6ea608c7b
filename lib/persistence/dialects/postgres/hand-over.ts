import { GATHERED, PAGE } from '../values/gathered.js'
import type { HandOver } from '../values/hand-over.js'
import { quoted } from '../values/quoted.js'

/**
 * Names of settings that last until the transaction ends. Outside other transactions, that is one round trip.
 * Afterwards the settings are empty.
 */
const settingOf = (number: number): string => `'ashlar.kept_${number}'`
const textSettingOf = (number: number): string => `'ashlar.text_${number}'`

/**
 * Hands values from one statement to later ones in the same round trip. A condition stores the value as a
 * setting. PostgreSQL evaluates it once, before the first row, and its result is constant, because the stored
 * value is never NULL; without rows it is `{}`. A statement that runs on a different server than the page
 * finds no value or an empty one. It then fails instead of returning no rows.
 */
export const postgresHandOver: HandOver = {
  keeping: (columns) => {
    const kept = columns.map(
      (column, number) =>
        `set_config(${settingOf(number)}, COALESCE(array_agg(${column})::text, '{}'), true)`,
    )
    return `(SELECT ${kept.join(' || ')} FROM ${quoted(PAGE, '"')}) IS NOT NULL`
  },
  // In a subquery the setting is read once, and not for every compared row.
  kept: (number, type) => `(SELECT current_setting(${settingOf(number)})::text[])::${type}`,
  // The combining query begins with WITH, so its condition stays separate and comes after the page's.
  keepingText: (number, gathering) =>
    `SELECT 1 FROM (${gathering}) AS kept WHERE set_config(${textSettingOf(number)}, ${GATHERED}::text, true) IS NULL`,
  withTexts: (count, gathering) => {
    const texts = Array.from(
      { length: count },
      (_, number) => `current_setting(${textSettingOf(number)}, true)`,
    )
    // Change an unused setting. PostgreSQL copies all settings to each worker of a parallel query, but does
    // not parallelize a query that changes a setting.
    const ended = `set_config(${textSettingOf(count)}, '', true) IS NOT NULL`
    return `SELECT ${[GATHERED, ...texts].join(', ')} FROM (${gathering}) AS last WHERE ${ended}`
  },
}
