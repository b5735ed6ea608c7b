import type { FieldSpec } from './field-spec.js'
import { KEY_TYPES, type KeyType, type SampleKey } from './field-types.js'
import type { ResourceNames } from './resource-names.js'
import { camelOf } from './words.js'

/** The rows that a test creates before the resource: a parent with the fields that it needs. */
export interface ParentSample {
  readonly names: ResourceNames
  readonly key: KeyType
  /** The TypeScript source of an object. */
  readonly body: string
}

/** Returns the test of a new resource: the standard methods, and isolation between tenants and parents. */
export function testFile(
  names: ResourceNames,
  fields: readonly FieldSpec[],
  key: KeyType = KEY_TYPES.string,
  parent?: ParentSample,
): string {
  const { camels, snakes, snake, type } = names
  const plural = snakes.replaceAll('_', ' ')
  const isIdentity = key.generated !== undefined
  const of = (owner: SampleKey) =>
    parent === undefined ? `/v1/${camels}` : `${parentPath(parent, owner)}/${camels}`
  const all = of('first')
  const missing = key.sample('missing')
  const first = fields[0]?.name ?? ''
  const path = (name: SampleKey) => (isIdentity ? `/v1/\${made.body.name}` : `${all}/${key.sample(name)}`)
  const create = (name: SampleKey) => quoted(isIdentity ? all : `${all}?${snake}_id=${key.sample(name)}`)
  const id = isIdentity ? "made.body.name.split('/').at(-1)" : `'${key.sample('secret')}'`
  const inParent =
    parent === undefined
      ? ''
      : `
  it('stay in their ${parent.names.snake.replaceAll('_', ' ')}', async () => {
    const acme = app.as('acme')
    const made = await acme('POST', ${create('kept')}, sample)
    assert.equal(made.status, 200, JSON.stringify(made.body))
    assert.equal((await acme('GET', ${quoted(`${of('second')}/${isIdentity ? `\${${id}}` : key.sample('kept')}`)})).status, 404)
    assert.deepEqual((await acme('GET', ${quoted(of('second'))})).body.${camels} ?? [], [])
    const refused = await acme('POST', ${quoted(of('missing'))}, sample)
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
${parent?.key.generated === undefined ? '' : GENERATED_PARENTS}  before(async () => {
    app = await startApp()
${parent === undefined ? '' : parentsMade(parent)}  })
  after(() => app.stop())

  it('are created, read, changed, listed and deleted', async () => {
    const acme = app.as('acme')
    const made = await acme('POST', ${create('one')}, sample)
    assert.equal(made.status, 200, JSON.stringify(made.body))
    assert.deepEqual({ ...made.body, ...sample }, made.body)
    assert.deepEqual((await acme('GET', ${quoted(path('one'))})).body, made.body)

    const changed = await acme('PATCH', ${quoted(`${path('one')}?update_mask=${first}`)}, sample)
    assert.equal(changed.status, 200, JSON.stringify(changed.body))
    assert.equal((await acme('GET', ${quoted(all)})).body.${camels}.length, 1)

    assert.equal((await acme('DELETE', ${quoted(path('one'))})).status, 200)
    assert.equal((await acme('GET', ${quoted(path('one'))})).status, 404)
  })

  it('are those of one tenant', async () => {
    const acme = app.as('acme')
    const globex = app.as('globex')
    const made = await acme('POST', ${create('secret')}, sample)
    assert.equal(made.status, 200, JSON.stringify(made.body))

    // Another tenant's resource looks like one that never existed, for every method.
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const query = method === 'PATCH' ? '?update_mask=${first}' : ''
      const body = method === 'PATCH' ? sample : undefined
      const there = await globex(method, \`${path('secret')}\${query}\`, body)
      const missing = await globex(method, \`${all}/${missing}\${query}\`, body)
      const expected = missing.body.message.replace('${missing}', ${id})
      assert.deepEqual([there.status, there.body.message], [404, expected], method)
    }
    assert.deepEqual((await globex('GET', ${quoted(all)})).body.${camels} ?? [], [])
    assert.deepEqual((await acme('GET', ${quoted(path('secret'))})).body, made.body)
  })
${inParent}})
`
}

/** Returns a string literal, or a template literal if the text contains `${`. */
const quoted = (text: string): string => (text.includes('${') ? `\`${text}\`` : `'${text}'`)

const parentPath = ({ names, key }: ParentSample, owner: SampleKey): string =>
  key.generated !== undefined && owner !== 'missing'
    ? `/v1/\${${owner}}`
    : `/v1/${names.camels}/${key.sample(owner)}`

/** Declarations for parents whose keys the database generates. The test uses the first tenant's. */
const GENERATED_PARENTS = `  let first: string
  let second: string
`

const parentsMade = ({ names: { camels, snake }, key, body }: ParentSample): string =>
  key.generated !== undefined
    ? `    const make = async (): Promise<string> => {
      const made = await app.as('acme')('POST', '/v1/${camels}', ${body})
      assert.equal(made.status, 200, JSON.stringify(made.body))
      return made.body.name
    }
    first = await make()
    second = await make()
`
    : `    for (const tenant of ['acme', 'globex'])
      for (const id of ['${key.sample('first')}', '${key.sample('second')}']) {
        const path = \`/v1/${camels}?${snake}_id=\${id}\`
        const made = await app.as(tenant)('POST', path, ${body})
        assert.equal(made.status, 200, JSON.stringify(made.body))
      }
`

const sampleLine = ({ name, type }: FieldSpec): string => `${camelOf(name)}: ${type.sample(name)},`

/** Adds samples of fields to a test. Undefined if the generated `const sample` is not found. */
export function withSamples(text: string, fields: readonly FieldSpec[]): string | undefined {
  const lines = text.split('\n')
  const start = lines.indexOf('const sample = {')
  const end = lines.indexOf('}', start)
  if (start === -1 || end === -1) return undefined
  lines.splice(end, 0, ...fields.map((field) => `  ${sampleLine(field)}`))
  return lines.join('\n')
}

/** Removes the sample of a field from a test. */
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
