import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { withoutTenants } from '../../../decorators/index.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { Specimen } from '../../support/entities/specimen.js'

const contradiction = (what: string) => [
  `${what} and withoutTenants() contradict each other: remove one of them`,
]
const named = (property: string) =>
  `${property} is named like a tenant, but withoutTenants() declares that there are none: write @Resource({ shared: true }) if it is not a tenant; otherwise remove withoutTenants() and write @TenantScoped({ column: '${property}' }) below @Resource()`

describeOn('an application without tenants', backends, (backend) => {
  it('shares each class, decides by rules and rows, and rejects what looks like a tenant', async () => {
    const host = fileURLToPath(new URL('hosts/without-tenants.js', import.meta.url))
    const { stdout } = await promisify(execFile)(process.execPath, [host, backend.name])
    expect(JSON.parse(stdout)).to.deep.equal({
      problems: {
        Note: [],
        Session: [],
        Scoped: contradiction('@TenantScoped()'),
        Marked: contradiction('@TenantColumn()'),
        Denied: contradiction('shared: false'),
        Named: ['orgId', 'workspace_id', 'Company', 'owner', 'team', 'account', 'note', 'audit.teamId'].map(
          named,
        ),
        ByName: [named('accountId')],
      },
      calls: [
        ['ann POST', 200],
        ['ann POST', 403],
        ['bob GET', 200],
        ['bob DELETE', 403],
        ['ann DELETE', 200],
        [' GET', 403],
      ],
      session: { id: 's', accountId: 'x' },
    })
  })
})

describe('withoutTenants()', () => {
  it('fails after the model of an entity was read', () => {
    resourceModel(Specimen)
    expect(withoutTenants).to.throw(TypeError, /called after \w+ was read: call it before/)
  })
})
