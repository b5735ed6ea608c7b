import { expect } from 'chai'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { WidgetService } from '../../../examples/widgets/gen/widgets_pb.js'
import { Widget } from '../../../examples/widgets/widget.js'
import { type Authorizer, ServerBuilder } from '../../../lib/index.js'
import { memoryRepositoryOf } from '../../../lib/persistence/repository-of.js'
import { testServer } from '../../../lib/testing/index.js'
import { compiled } from '../../support/root.js'
import { type PageFolder, pageFolder } from '../../support/sources/page-module.js'

interface Sample {
  readonly rolesAndRows: (file: string) => Authorizer
}

describe('roles-and-rows.ts of docs/guides/row-authorization.md', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ashlar-roles-'))
  const file = join(folder, 'roles.yaml')
  let page: PageFolder
  let builder: ServerBuilder

  before(async function () {
    if (basename(compiled) !== 'dist') return this.skip()
    page = pageFolder('docs/guides/row-authorization.md')
    const { rolesAndRows } = (await page.load('roles-and-rows.ts')) as unknown as Sample
    builder = new ServerBuilder({ authorizer: rolesAndRows(file), explainDenials: true }).register(
      WidgetService,
      new (memoryRepositoryOf(Widget))(),
      { retireWidget: () => ({}) },
    )
  })
  after(() => {
    page?.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  const roles = (verb: string) => `roles:
  editor:
    - { verbs: [get, ${verb}, create], resource: widget }
bindings:
  - { tenant: '*', subjects: ['group:staff'], roles: [editor] }
`

  it('does not start with a verb that no method requires', async () => {
    writeFileSync(file, roles('updaet'))
    expect(
      await testServer(builder).then(
        () => '',
        (error: Error) => error.message,
      ),
    ).to.include('updaet')
  })

  it('decides by the roles, and then by row', async () => {
    writeFileSync(file, roles('update'))
    const server = await testServer(builder)
    const as = (subject: string, ...groups: string[]) => server.as({ tenant: 'acme', subject, groups })
    const { id } = await as('ada', 'staff')
      .client(WidgetService)
      .createWidget({ widget: { displayName: 'Anvil', tags: { owner: 'ada' } } })
    const update = async (caller: ReturnType<typeof as>) => {
      const response = await caller.fetch(`/v1/widgets/${id}?update_mask=size`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json' },
        body: '{ "size": 2 }',
      })
      return [response.status, response.headers.get('x-denied-because') ?? '']
    }
    expect(await update(as('ada', 'staff'))).to.deep.equal([200, ''])
    expect((await update(as('bob', 'staff')))[0]).to.equal(403)
    expect(await update(as('bob', 'staff', 'managers'))).to.deep.equal([200, ''])
    const [status, reason] = await update(as('ada', 'managers'))
    expect(status).to.equal(403)
    expect(reason).to.include('role')
    await server.stop()
  })
})
