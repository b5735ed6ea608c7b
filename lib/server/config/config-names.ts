import { problem, type Problem } from '../../errors.js'
import { misspelt } from '../../text/misspelt.js'
import type { Config } from './config.js'
import type { FieldTable } from './config-field.js'
import { CONFIG_FIELDS } from './config-defaults.js'

/**
 * Returns one problem for each unknown name in a configuration. A misspelt limit would otherwise have no
 * effect.
 */
export const unknownNames = (config: Config): Problem[] =>
  unknownIn('the configuration', underOneName(config), CONFIG_FIELDS as FieldTable)

/** Pairs of an alias and its main name. The specification uses both names, so both are accepted. */
const SAME = [
  ['deduplicationStore', 'idempotencyStore'],
  ['lroStore', 'operationStore'],
] as const

/** A configuration without aliases. */
export type PlainConfig = Omit<Config, (typeof SAME)[number][0]>

/** Returns one problem for each option that is given under both of its names. */
export const doubleNames = (config: Config): Problem[] =>
  SAME.filter((names) => names.every((name) => config[name] !== undefined)).map(([other, name]) =>
    problem('option', `${name} and ${other} are the same`, 'set one of them'),
  )

/** Renames aliases to their main names. */
export const underOneName = ({ deduplicationStore, lroStore, ...config }: Config): PlainConfig => ({
  ...config,
  ...(deduplicationStore !== undefined && { idempotencyStore: deduplicationStore }),
  ...(lroStore !== undefined && { operationStore: lroStore }),
})

const unknownIn = (where: string, given: object, known: FieldTable): Problem[] =>
  Object.entries(given).flatMap(([name, value]: [string, unknown]) => {
    const field = Object.hasOwn(known, name) ? known[name] : undefined
    if (field === undefined) return [problem('option', misspelt(name, where, Object.keys(known)))]
    const hasNames = field.fields !== undefined && typeof value === 'object' && value !== null
    return hasNames ? unknownIn(`\`${name}\``, value, field.fields) : []
  })
