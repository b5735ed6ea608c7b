import { InvalidArgument } from '../../errors.js'

/** One `name=value` of a query, decoded. */
export type Parameter = readonly [name: string, value: string]

/** More than a batch's largest number of ids and a mask need together. */
export const MAX_PARAMETERS = 2000

/**
 * Splits and decodes a query as application/x-www-form-urlencoded.
 * @throws InvalidArgument for too many parameters, a malformed escape, and an escape that is not UTF-8.
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
