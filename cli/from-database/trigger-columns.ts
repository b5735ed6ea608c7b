import type { CatalogTable } from './database-catalog.js'

/** The triggers that set a column before a row is written. */
export interface SetBy {
  readonly triggers: readonly string[]
  readonly onInsert: boolean
}

/**
 * Returns the columns that trigger functions assign, for example with `NEW.updated_at := now()` or as the
 * argument of `moddatetime`.
 */
export function setByTriggers({ triggers, columns }: CatalogTable): ReadonlyMap<string, SetBy> {
  const found = new Map<string, SetBy>()
  for (const { name, source, definition, functionName, isBefore, onInsert } of triggers) {
    if (!isBefore) continue
    const body = source.replaceAll(/--[^\n]*|\/\*[\s\S]*?\*\//g, '')
    const assigned =
      functionName === 'moddatetime'
        ? [...(/moddatetime\(([^)]*)\)/.exec(definition)?.[1] ?? '').matchAll(/'?([^',\s]+)'?/g)]
        : [...body.matchAll(/\bNEW\s*\.\s*"?(\w+)"?\s*:?=(?!=)/gi)].filter(({ index }) =>
            isStatement(body, index),
          )
    for (const [, column = ''] of assigned) {
      const own = columns.find((one) => one.name === column || one.name === column.toLowerCase())
      if (own === undefined) continue
      const before = found.get(own.name)
      found.set(own.name, {
        triggers: [...new Set([...(before?.triggers ?? []), name])],
        onInsert: onInsert || before?.onInsert === true,
      })
    }
  }
  return found
}

/** Returns true for an assignment, and false inside a condition: `IF NEW.state = 'paid'` compares. */
const isStatement = (source: string, at: number): boolean =>
  /(^|;|\b(BEGIN|THEN|ELSE|LOOP))\s*$/i.test(source.slice(0, at))
