import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CONFIG_FIELDS, RESILIENCE_FIELDS } from '../../../lib/server/config/fields.js'
import { LIMIT_DEFAULTS } from '../../../lib/server/config/limits.js'
import { root } from '../../support/root.js'

/** Field and default of each row of the table under a heading. */
const tableOf = (heading: string): Readonly<Record<string, string>> => {
  const page = readFileSync(join(root, 'docs/server.md'), 'utf8')
  const section = page.slice(page.indexOf(`\n## ${heading}\n`)).split('\n## ', 2)[1] ?? ''
  const rows = [...section.matchAll(/^\| `([A-Za-z.]+)` *\| *(.*?) *\|/gm)]
  return Object.fromEntries(rows.map(([, field = '', value = '']) => [field, value]))
}

const documentedOf = (fields: Readonly<Record<string, { readonly documented: string }>>, prefix = '') =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { documented }]) => [`${prefix}${name}`, documented] as const),
  )

describe('the tables of docs/server.md', () => {
  it('have each field of Config with its default', () => {
    const { resilience, ...fields } = documentedOf(CONFIG_FIELDS)
    expect(resilience).to.equal('')
    expect(tableOf('Configuration')).to.deep.equal({
      ...fields,
      ...documentedOf(RESILIENCE_FIELDS, 'resilience.'),
    })
  })

  it('have each limit with its default', () => {
    const said = ([name, value]: [string, number]) => [
      name,
      value === Infinity
        ? 'none'
        : value % 2 ** 20 === 0
          ? `${value / 2 ** 20} MiB`
          : value.toLocaleString('en'),
    ]
    expect(tableOf('Limits')).to.deep.equal(Object.fromEntries(Object.entries(LIMIT_DEFAULTS).map(said)))
  })
})
