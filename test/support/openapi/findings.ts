import { createConfig, lintFromString } from '@redocly/openapi-core'

/**
 * Returns the problems that the validator reports for a document, one message each. Every recommended rule
 * counts as an error.
 */
export async function findings(text: string): Promise<readonly string[]> {
  const config = await createConfig({ extends: ['recommended-strict'] })
  const problems = await lintFromString({ source: text, absoluteRef: 'openapi.json', config })
  return problems.map(
    ({ ruleId, message, location }) =>
      `${ruleId}: ${message} (${location.map(({ pointer }) => pointer ?? '').join()})`,
  )
}
