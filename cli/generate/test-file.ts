import type { FieldSpec } from './field-spec.js'
import type { ResourceNames } from './resource-names.js'
import { camelOf } from './words.js'

/** What a test makes before the resource itself: a parent, by the fields that it needs. */
export interface ParentSample {
  readonly names: ResourceNames
  /** TypeScript text of an object. */
  readonly body: string
}

/** The test of a new resource: the standard methods, and that tenants and parents stay apart. */
export function testFile(names: ResourceNames, fields: readonly FieldSpec[], parent?: ParentSample): string {
  const { camels, snakes, snake, type } = names
  const plural = snakes.replaceAll('_', ' ')
  const of = (owner: string) =>
    parent === undefined ? `/v1/${camels}` : `/v1/${parent.names.camels}/${owner}/${camels}`
  const all = of('first')
  const first = fields[0]?.name ?? ''
  const made =
    parent === undefined
      ? ''
      : `    for (const tenant of ['acme', 'globex'])
      for (const id of ['first', 'second']) {
        const path = \`/v1/${parent.names.camels}?${parent.names.snake}_id=\${id}\`
        const made = await app.as(tenant)('POST', path, ${parent.body})
        assert.equal(made.status, 200, JSON.stringify(made.body))
      }
`
  const inParent =
    parent === undefined
      ? ''
      : `
  it('stay in their ${parent.names.snake.replaceAll('_', ' ')}', async () => {
    const acme = app.as('acme')
    const made = await acme('POST', '${all}?${snake}_id=kept', sample)
    assert.equal(made.status, 200, JSON.stringify(made.body))
    assert.equal((await acme('GET', '${of('second')}/kept')).status, 404)
    assert.deepEqual((await acme('GET', '${of('second')}')).body.${camels} ?? [], [])
    const refused = await acme('POST', '${of('missing')}', sample)
    assert.equal(refused.status, 400)
  })
`
  return `import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type App, startApp } from './app.js'

/** A message ${type} as JSON, which the tests create. */
const sample = {
${fields.map((field) => `  ${sampleLine(field)}\n`).join('')}}

describe('${plural}', () => {
  let app: App
  before(async () => {
    app = await startApp()
${made}  })
  after(() => app.stop())

  it('are created, read, changed, listed and deleted', async () => {
    const acme = app.as('acme')
    const made = await acme('POST', '${all}?${snake}_id=one', sample)
    assert.equal(made.status, 200, JSON.stringify(made.body))
    assert.deepEqual({ ...made.body, ...sample }, made.body)
    assert.deepEqual((await acme('GET', '${all}/one')).body, made.body)

    const changed = await acme('PATCH', '${all}/one?update_mask=${first}', sample)
    assert.equal(changed.status, 200, JSON.stringify(changed.body))
    assert.equal((await acme('GET', '${all}')).body.${camels}.length, 1)

    assert.equal((await acme('DELETE', '${all}/one')).status, 200)
    assert.equal((await acme('GET', '${all}/one')).status, 404)
  })

  it('are those of one tenant', async () => {
    const acme = app.as('acme')
    const globex = app.as('globex')
    const made = await acme('POST', '${all}?${snake}_id=secret', sample)
    assert.equal(made.status, 200, JSON.stringify(made.body))

    // Another tenant's looks like one that never existed, whatever is asked of it.
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const query = method === 'PATCH' ? '?update_mask=${first}' : ''
      const body = method === 'PATCH' ? sample : undefined
      const there = await globex(method, \`${all}/secret\${query}\`, body)
      const missing = await globex(method, \`${all}/missing\${query}\`, body)
      const expected = missing.body.message.replace('missing', 'secret')
      assert.deepEqual([there.status, there.body.message], [404, expected], method)
    }
    assert.deepEqual((await globex('GET', '${all}')).body.${camels} ?? [], [])
    assert.deepEqual((await acme('GET', '${all}/secret')).body, made.body)
  })
${inParent}})
`
}

const sampleLine = ({ name, type }: FieldSpec): string => `${camelOf(name)}: ${type.sample(name)},`

/** The test with samples of more fields. Undefined where there is no \`const sample\` as it was written. */
export function withSamples(text: string, fields: readonly FieldSpec[]): string | undefined {
  const lines = text.split('\n')
  const start = lines.indexOf('const sample = {')
  const end = lines.indexOf('}', start)
  if (start === -1 || end === -1) return undefined
  lines.splice(end, 0, ...fields.map((field) => `  ${sampleLine(field)}`))
  return lines.join('\n')
}

/** The test without the sample of a field. */
export function withoutSample(text: string, field: string): string {
  const lines = text.split('\n')
  const start = lines.indexOf('const sample = {')
  const end = lines.indexOf('}', start)
  const at = lines.findIndex(
    (line, index) => start !== -1 && index > start && index < end && line.startsWith(`  ${camelOf(field)}: `),
  )
  if (at !== -1) lines.splice(at, 1)
  return lines.join('\n')
}
