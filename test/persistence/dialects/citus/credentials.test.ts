import { expect } from 'chai'
import { Client } from 'pg'
import type { DataSource } from 'typeorm'
import { RequestContext } from '../../../../lib/context.js'
import { type SentStatement, watchStatements } from '../../../../lib/persistence/engines/watch-statements.js'
import type { Problem } from '../../../../lib/errors.js'
import { schemaComparison } from '../../../../lib/persistence/comparison/schema-comparison.js'
import { repositoryOf } from '../../../../lib/persistence/repository-of.js'
import { asTenant, subjectOptions } from '../../../conformance/repository/subject.js'
import { describeDistributed, opened } from './distributed.js'
import { Robot } from './entities.js'

class RobotRepository extends repositoryOf(Robot) {}

describeDistributed('credentials of distributed tables', (open, isCluster) => {
  let close: () => Promise<void>
  let dataSource: DataSource
  let robots: RobotRepository
  const sent: SentStatement[] = []
  const texts = () => sent.map(({ text }) => text).filter((text) => /robots|credential_tenants/.test(text))
  const keyOf = async (tenant: string, id: string) =>
    (await asTenant(tenant, () => robots.create({ id }))).apiKey as string
  const verified = (token: string) =>
    RequestContext.asSystem({ reason: 'test' }, () => robots.verifyApiKey(token))

  before(async () => {
    ;({ dataSource, close } = await opened(open, [Robot]))
    robots = new RobotRepository(dataSource, subjectOptions)
    watchStatements(dataSource, (statement) => sent.push(statement))
  })
  beforeEach(() => sent.splice(0))
  after(() => close?.())

  it('are written with the tenant of their public id, in one transaction', async () => {
    await keyOf('acme', 'r1')
    const order = sent.flatMap(
      ({ text }) => /^(?:BEGIN|COMMIT)$|^INSERT INTO "?(?:robots|credential_tenants)/.exec(text) ?? [],
    )
    expect(order).to.deep.equal(['BEGIN', 'INSERT INTO "robots', 'INSERT INTO credential_tenants', 'COMMIT'])
  })

  it('are verified by the coordinator and the server of their tenant', async () => {
    for (const tenant of ['acme', 'globex', 'initech']) {
      const token = await keyOf(tenant, 'r2')
      sent.splice(0)
      const { ok, record } = await verified(token)
      expect([ok, record?.accountId]).to.deep.equal([true, tenant])
      const [first, second, ...others] = texts()
      expect(first).to.match(/^SELECT tenant FROM credential_tenants WHERE public_id = \$1$/)
      expect(second).to.match(/ FROM "robots" WHERE "api_key_public_id" = \$1 AND "account_id" = \$2/)
      expect(others).to.deep.equal([])
    }
  })

  it('are reminted in one transaction, and the old one is refused', async () => {
    const old = await keyOf('acme', 'r3')
    sent.splice(0)
    const token = await asTenant('acme', () => robots.remintApiKey('r3'))
    const writes = sent.flatMap(
      ({ text }) => /^(?:BEGIN|COMMIT)$|^INSERT INTO credential_tenants/.exec(text) ?? [],
    )
    expect(writes).to.deep.equal(['BEGIN', 'INSERT INTO credential_tenants', 'COMMIT'])
    expect((await verified(token)).ok).to.equal(true)
    expect((await verified(old)).ok).to.equal(false)
  })

  it('are refused once their resource is deleted', async () => {
    const token = await keyOf('acme', 'r4')
    await asTenant('acme', () => robots.delete('r4'))
    expect((await verified(token)).ok).to.equal(false)
  })

  it('leave no tenant behind if the row is not written', async () => {
    await keyOf('acme', 'r5')
    const count = async () => {
      const [row] = await dataSource.query<{ readonly n: string }[]>(
        'SELECT count(*) AS n FROM credential_tenants',
      )
      return Number(row?.n)
    }
    const before = await count()
    await keyOf('acme', 'r5').catch(() => {})
    expect(await count()).to.equal(before)
  })

  it('have a table that comparisons and startup accept', async () => {
    expect(await robots.startUpCheck()).to.deep.equal({ problems: [], warnings: [] })
    expect(await differences(dataSource)).to.deep.equal([])
  })

  it('are reported at startup without the table of tenants, or with an index that Citus refuses', async () => {
    await dataSource.query('ALTER TABLE credential_tenants RENAME TO aside')
    const { problems } = await robots.startUpCheck()
    expect(problems.map((one) => (one as Problem).text)).to.have.length(1)
    expect((problems[0] as Problem).text).to.match(/^the table credential_tenants is missing/)
    await dataSource.query('ALTER TABLE aside RENAME TO credential_tenants')
    if (isCluster) return
    await dataSource.query('CREATE UNIQUE INDEX lone ON robots (api_key_public_id)')
    const { warnings } = await robots.startUpCheck()
    expect(warnings).to.have.length(1)
    expect(warnings[0]).to.match(/^Robot: the unique index lone lacks account_id/)
    await dataSource.query('DROP INDEX lone')
  })
})

/** What a comparison of the live tables with the resource finds. */
async function differences(dataSource: DataSource): Promise<readonly unknown[]> {
  const { url } = dataSource.options as { readonly url: string }
  return schemaComparison([Robot])({
    dialect: 'postgres',
    schema: 'public',
    rows: async (text, values = []) => {
      let n = 0
      const numbered = text.replaceAll('?', () => `$${++n}`)
      const client = new Client({ connectionString: url })
      await client.connect()
      try {
        return (await client.query<Record<string, unknown>>(numbered, [...values])).rows
      } finally {
        await client.end()
      }
    },
  })
}
