import { misspelt } from '../../text/misspelt.js'
import type { Config } from './config.js'
import type { FieldTable } from './config-field.js'
import { CONFIG_FIELDS } from './fields.js'

/** One text for each name of a configuration that is unknown: a misspelt option would protect nobody. */
export const unknownNames = (config: Config): string[] =>
  unknownIn('the configuration', config, CONFIG_FIELDS as FieldTable)

const unknownIn = (where: string, given: object, known: FieldTable): string[] =>
  Object.entries(given).flatMap(([name, value]: [string, unknown]) => {
    const field = Object.hasOwn(known, name) ? known[name] : undefined
    if (field === undefined) return [misspelt(name, where, Object.keys(known))]
    const hasNames = field.fields !== undefined && typeof value === 'object' && value !== null
    return hasNames ? unknownIn(`\`${name}\``, value, field.fields) : []
  })
