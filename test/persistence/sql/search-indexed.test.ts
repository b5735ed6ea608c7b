import { expect } from 'chai'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DataSource } from 'typeorm'
import { generateSearch } from '../../../cli/search/generate-search.js'
import { RequestContext } from '../../../lib/context.js'
import { Internal } from '../../../lib/errors.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { executorOf } from '../../../lib/persistence/engines/executor-of.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { databases, describeOn, type OpenBackend } from '../../support/databases/backends.js'
import { Contact } from '../../support/entities/contacts.js'
import { drill } from '../../support/drill.js'
import { rejection } from '../../support/rejection.js'
import { compiled } from '../../support/root.js'

const ROWS = drill(20_000, 1_000_000)
const TENANTS = 10
const ContactRepository = repositoryOf(Contact)

/** Sources of the vector, one of them NULL in half of the rows, and words that all rows have in common. */
const FILL = `INSERT INTO contacts (id, account_id, name, email, host, note, etag)
  SELECT 'c' || i, 'tenant-' || i % ${TENANTS}, 'Common Name' || i, 'user' || i || '@mail.example.com', 'h' || i || '.example.org',
    CASE WHEN i % 2 = 0 THEN 'a common note of ' || i % 500 END, ''
  FROM generate_series(1, $1::int) AS i`

describeOn(
  'INDEXED search',
  databases.filter(({ name }) => name === 'postgres'),
  (backend) => {
    let opened: OpenBackend
    let dataSource: DataSource
    let folder: string
    let contacts: InstanceType<typeof ContactRepository>
    const as = <T>(tenant: string, work: () => Promise<T>) =>
      RequestContext.as({ tenant, subject: 'ada' }, work)
    const found = (search: string, tenant = 'tenant-1') =>
      as(tenant, async () => (await contacts.list({ search, pageSize: 5 })).items.map(({ id }) => id))

    before(async () => {
      folder = mkdtempSync(join(tmpdir(), 'ashlar-indexed-'))
      opened = await backend.open([Contact])
      dataSource = opened.dataSource!
      contacts = new ContactRepository(dataSource)
      await createTables(dataSource, [Contact], 'postgres')
      await dataSource.query(FILL, [ROWS])
    })
    after(async () => {
      await opened?.close()
      rmSync(folder, { recursive: true, force: true })
    })

    it('is an internal error while the column is missing, whose cause says what is', async () => {
      const error = await rejection(found('user1'), Internal)
      expect(error.wireMessage).to.equal('internal error')
      expect((error.cause as Error).message)
        .to.include('search_vector')
        .and.include('ashlar migrate up')
    })

    it('is what the generated files make, applied in their order', async () => {
      await generateSearch({
        entities: join(compiled, 'test', 'support', 'entities', 'contacts.js'),
        out: join(folder, 'out'),
        migrations: join(folder, 'committed'),
        check: false,
      })
      const files = readdirSync(join(folder, 'out')).filter((name) => /contacts.*\.up\.sql$/.test(name))
      expect(files).to.have.length(2)
      for (const file of files.sort()) await dataSource.query(readFileSync(join(folder, 'out', file), 'utf8'))
      await dataSource.query('ANALYZE contacts')
    })

    it('returns all pages in the order of their keys, of words with many rows and with few', async () => {
      for (const search of ['common', 'common note', `name${ROWS - 8}`, 'note 492', 'nothing'])
        await as('tenant-2', async () => {
          const ids: string[] = []
          for (let pageToken = ''; ;) {
            const { items, nextPageToken } = await contacts.list({ search, pageSize: 70, pageToken })
            ids.push(...items.map(({ id }) => id))
            if ((pageToken = nextPageToken) === '') break
          }
          const rows: readonly { readonly id: string }[] = await dataSource.query(
            `SELECT id FROM contacts WHERE account_id = 'tenant-2' AND search_vector @@ websearch_to_tsquery('english', $1) ORDER BY id COLLATE "C"`,
            [search],
          )
          expect(ids, search).to.deep.equal(rows.map(({ id }) => id))
          expect(ids.length > 0, search).to.equal(search !== 'nothing')
        })
    })

    const cases: readonly (readonly [
      what: string,
      search: string,
      tenant: string,
      ids: readonly string[],
    ])[] = [
      ['an e-mail address', 'user4711@mail.example.com', 'tenant-1', ['c4711']],
      ['a part of an e-mail address', 'user4711', 'tenant-1', ['c4711']],
      ['a host name', 'h4711.example.org', 'tenant-1', ['c4711']],
      ['a row one of whose sources is NULL', 'name4711', 'tenant-1', ['c4711']],
      ['a row all of whose sources are there', 'name4712', 'tenant-2', ['c4712']],
      ['two words', 'user4712 note', 'tenant-2', ['c4712']],
      ['not what a word excludes', 'user4712 -note', 'tenant-2', []],
      ['nothing of another tenant', 'user4711', 'tenant-2', []],
    ]
    for (const [what, search, tenant, ids] of cases)
      it(`finds ${what}: ${search}`, async () => {
        expect(await found(search, tenant)).to.deep.equal(ids)
      })

    it(`uses its index for a rare word among ${ROWS} rows`, async () => {
      const database = executorOf(dataSource)
      const { run } = database
      let text = ''
      let values: readonly unknown[] = []
      database.run = (statement, bound, options) => {
        text = statement.text
        values = bound
        return run.call(database, statement, bound, options)
      }
      try {
        expect(await found('user4711')).to.deep.equal(['c4711'])
      } finally {
        database.run = run
      }
      const plan: { 'QUERY PLAN': string }[] = await dataSource.query(`EXPLAIN ${text}`, [...values])
      expect(plan.map((line) => line['QUERY PLAN']).join('\n')).to.include('contacts_search_vector_gin')
    })
  },
)
