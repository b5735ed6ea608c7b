import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  CONFIG_FIELDS,
  GATEWAY_FIELDS,
  RESILIENCE_FIELDS,
} from '../../../lib/server/config/config-defaults.js'
import { LIMIT_FIELDS } from '../../../lib/server/config/limits.js'
import { root } from '../../support/root.js'

/** Field and default of each row of the table under a heading. */
const tableOf = (path: string, heading: string): Readonly<Record<string, string>> => {
  const page = readFileSync(join(root, path), 'utf8')
  const section = page.slice(page.indexOf(`\n## ${heading}\n`)).split('\n## ', 2)[1] ?? ''
  const rows = [...section.matchAll(/^\| `([A-Za-z0-9.]+)` *\| *(.*?) *\|/gm)]
  return Object.fromEntries(rows.map(([, field = '', value = '']) => [field, value]))
}

const documentedOf = (fields: Readonly<Record<string, { readonly documented: string }>>, prefix = '') =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { documented }]) => [`${prefix}${name}`, documented] as const),
  )

describe('the tables of the documentation', () => {
  it('have each field of Config with its default', () => {
    const { resilience, ...fields } = documentedOf(CONFIG_FIELDS)
    expect(resilience).to.equal('')
    expect(tableOf('docs/reference/server.md', 'Configuration')).to.deep.equal({
      ...fields,
      ...documentedOf(RESILIENCE_FIELDS, 'resilience.'),
    })
  })

  it('have each limit with its default', () => {
    expect(tableOf('docs/reference/limits.md', 'Limits')).to.deep.equal(documentedOf(LIMIT_FIELDS))
  })

  it('have each option of the gateway with its default', () => {
    expect(tableOf('docs/reference/gateway.md', 'Options')).to.deep.equal(documentedOf(GATEWAY_FIELDS))
  })
})
