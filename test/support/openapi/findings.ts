import { createConfig, lintFromString } from '@redocly/openapi-core'

/** What the validator finds in a document, one text each, with every rule that it recommends as an error. */
export async function findings(text: string): Promise<readonly string[]> {
  const config = await createConfig({ extends: ['recommended-strict'] })
  const problems = await lintFromString({ source: text, absoluteRef: 'openapi.json', config })
  return problems.map(
    ({ ruleId, message, location }) =>
      `${ruleId}: ${message} (${location.map(({ pointer }) => pointer ?? '').join()})`,
  )
}
