import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import openapiTS, { astToString } from 'openapi-typescript'
import { widgetServer } from '../../examples/widgets/main.js'
import { compiledWith } from '../support/projects/compiled-project.js'
import { compiled } from '../support/root.js'
import { recordingLogger } from '../support/servers/server.js'

/** What a front end writes. Each line that must not compile says so. */
const CLIENT = `
import createClient from 'openapi-fetch'
import type { components, paths } from './openapi.js'

type Widget = components['schemas']['widgets.v1.Widget']
const headers = { 'account-id': 'acme', subject: 'ada', groups: 'staff' }
const client = createClient<paths>({ baseUrl: process.argv[2] ?? '', headers })

const made = await client.POST('/v1/widgets', {
  params: { query: { widget_id: 'cog' } },
  body: { displayName: 'Cog', size: 3, state: 'ACTIVE', tags: { color: 'red' } },
})
if (made.data === undefined) throw new Error(made.error.message)
const widget: Widget = made.data
const name: string = widget.displayName
const state: 'STATE_UNSPECIFIED' | 'DRAFT' | 'ACTIVE' | 'RETIRED' = widget.state
// @ts-expect-error a number for a name
await client.POST('/v1/widgets', { body: { displayName: 1 } })
// @ts-expect-error a size that is text
const wrong: Widget['size'] = '3'

const path = { id: 'cog' }
const updated = await client.PATCH('/v1/widgets/{id}', {
  params: { path, query: { update_mask: ['size', 'display_name'] }, header: { 'If-Match': widget.etag } },
  body: { size: 4, displayName: 'Cog 2' },
})
// @ts-expect-error an update without a mask
await client.PATCH('/v1/widgets/{id}', { params: { path }, body: { size: 5 } })
const masked = await client.GET('/v1/widgets/{id}', { params: { path, query: { read_mask: 'size' } } })
// @ts-expect-error a read mask may have left the name out
const perhaps: string = masked.data!.displayName
const listed = await client.GET('/v1/widgets', { params: { query: { page_size: 1, filter: 'size > 3' } } })
const missing = await client.GET('/v1/widgets/{id}', { params: { path: { id: 'nobody' } } })
if (missing.error === undefined) throw new Error('it was found')
const code: number = missing.error.code
console.log(
  JSON.stringify({
    ...{ name, state, wrong: typeof wrong, perhaps: typeof perhaps, code, updated: updated.data, status: updated.response.status },
    ...{ masked: masked.data, listed: listed.data?.widgets?.map(({ id }) => id), details: missing.error.details },
  }),
)
`

describe('a typed client of openapi-typescript and openapi-fetch', function () {
  it('compiles against the document of a running server, and works', async () => {
    const controller = new AbortController()
    const server = await widgetServer({
      ...{
        database: ':memory:',
        grpcAddr: '127.0.0.1:0',
        httpAddr: '127.0.0.1:0',
        logger: recordingLogger(),
      },
    })
    const served = server.serve(controller.signal)
    await Promise.race([server.ready(), served])
    const origin = `http://${server.httpAddr()}`
    // Inside of the project, so that its packages are found.
    const folder = mkdtempSync(join(compiled, 'typed-client-'))
    try {
      const document = await (await fetch(`${origin}/openapi.json`)).text()
      writeFileSync(join(folder, 'openapi.d.ts'), astToString(await openapiTS(document)))
      writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
      writeFileSync(join(folder, 'client.ts'), CLIENT)
      expect(compiledWith(folder, STRICT)).to.deep.equal([])
      const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'client.js'), origin])
      const told = JSON.parse(stdout) as Record<string, unknown>
      expect(told).to.include({ name: 'Cog', state: 'ACTIVE', wrong: 'string', code: 5, status: 200 })
      expect(told['updated']).to.include({ size: 4, displayName: 'Cog 2' })
      expect(told['masked']).to.deep.equal({ size: 4 })
      expect(told['listed']).to.deep.equal(['cog'])
      expect(told['details']).to.have.length(1)
    } finally {
      rmSync(folder, { recursive: true, force: true })
      controller.abort()
      await served
    }
  })
})

/** What a front end gives its compiler. */
const STRICT = {
  target: 'es2022',
  module: 'esnext',
  moduleResolution: 'bundler',
  lib: ['es2022', 'dom', 'dom.iterable'],
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
}
