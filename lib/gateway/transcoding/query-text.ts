import { InvalidArgument } from '../../errors.js'

/** A decoded `name=value` pair of a query. */
export type Parameter = readonly [name: string, value: string]

/** Higher than the largest number of ids in a batch plus the paths of a mask. */
export const MAX_PARAMETERS = 2000

/**
 * Splits and decodes a query as application/x-www-form-urlencoded.
 * @throws InvalidArgument for too many parameters, and for an escape that is malformed or not UTF-8.
 */
export function parseQuery(query: string): readonly Parameter[] {
  if (query === '') return []
  const parameters: Parameter[] = []
  const pairs = query.split('&').filter(Boolean)
  if (pairs.length > MAX_PARAMETERS)
    throw new InvalidArgument('', `the query has ${pairs.length} parameters: use at most ${MAX_PARAMETERS}`)
  for (const pair of pairs) {
    const equals = pair.indexOf('=')
    const name = decode(equals < 0 ? pair : pair.slice(0, equals))
    parameters.push([name, equals < 0 ? '' : decode(pair.slice(equals + 1))])
  }
  return parameters
}

function decode(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  if (!spaced.includes('%')) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch {
    throw new InvalidArgument('', 'the query has a percent escape that is not UTF-8')
  }
}
