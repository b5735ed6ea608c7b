import type { DeclarationError } from '../../lib/server/index.js'
import { Failure } from './failure.js'

const headOf = (subject: string, problems: readonly string[]): string =>
  `${subject}: ${problems.length} problems:`

/** Formats problems as `entities: 2 problems: …; …`. */
export const problemsText = (subject: string, problems: readonly string[]): string =>
  problems.length === 1
    ? `${subject}: ${problems.join('')}`
    : `${headOf(subject, problems)} ${problems.join('; ')}`

/**
 * Returns the failure of a module with invalid declarations. A declaration error, which may come from another
 * copy of the package, has several problems, which `--json` prints as values.
 */
export function moduleFailure(module: string, error: Error): Failure {
  const { subject, problems, values } = error as Partial<DeclarationError>
  const facts = values === undefined ? {} : { problems: values }
  if (subject === undefined || problems === undefined)
    return new Failure('input', `${module}: ${error.message}`, { cause: error, facts })
  const head = `${module}: ${headOf(subject, problems)}`
  const listed = problems.length > 1 ? { head, lines: problems } : undefined
  return new Failure('input', `${module}: ${problemsText(subject, problems)}`, {
    cause: error,
    facts,
    listed,
  })
}
