import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { Widget } from '../../../examples/widgets/widget.js'
import { RequestContext } from '../../../lib/context.js'
import { Cancelled, DeclarationError } from '../../../lib/errors.js'
import { watchStatements } from '../../../lib/persistence/engines/watch-statements.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { collated } from '../../conformance/repository/open-subject.js'
import { subjectOptions } from '../../conformance/repository/subject.js'
import {
  type BackendName,
  databases,
  describeOn,
  type OpenBackend,
} from '../../support/databases/backends.js'
import { rejection } from '../../support/rejection.js'
import { Specimen } from '../../support/entities/specimen.js'

const context = new RequestContext({ principal: { tenant: 'ACME', subject: 'ada', groups: [], scopes: [] } })
const Specimens = repositoryOf(Specimen)

type Engine = 'postgres' | 'mysql' | 'sqlite'
const engineOf = (name: BackendName): Engine =>
  name === 'postgres' ? 'postgres' : name === 'mariadb' || name === 'mysql8' ? 'mysql' : 'sqlite'

const SETUP: Readonly<Record<Engine, readonly string[]>> = {
  postgres: [
    'CREATE EXTENSION citext',
    `CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`,
    `CREATE COLLATION accentless (provider = icu, locale = 'und-u-ks-level1-kc-true', deterministic = false)`,
    'CREATE DOMAIN name_ci AS citext CHECK (length(value) < 256)',
    'CREATE DOMAIN name_of_name AS name_ci',
    'CREATE DOMAIN caseless_name AS text COLLATE caseless',
    'CREATE DOMAIN plain_name AS varchar(255) CHECK (length(value) < 256)',
    'CREATE DOMAIN name_of_plain AS plain_name',
    `CREATE COLLATION exact (provider = icu, locale = 'de')`,
  ],
  mysql: [],
  sqlite: [],
}

/** Types of a column that has to be exact, and what is told of it. */
const REFUSED: Readonly<Record<Engine, readonly (readonly [type: string, told: string])[]>> = {
  postgres: [
    ['citext', 'has the type citext'],
    ['name_ci', 'has the type citext'],
    ['name_of_name', 'has the type citext'],
    ['char(255)', 'has the type bpchar'],
    ['name', 'has the type name'],
    ['text COLLATE caseless', 'has the collation caseless'],
    ['varchar(255) COLLATE accentless', 'has the collation accentless'],
    ['caseless_name', 'has the collation caseless'],
    ['plain_name COLLATE caseless', 'has the collation caseless'],
  ],
  mysql: [
    ['varchar(191) COLLATE utf8mb4_general_ci', 'has the collation utf8mb4_general_ci'],
    ['varchar(191) COLLATE utf8mb4_unicode_520_ci', 'has the collation utf8mb4_unicode_520_ci'],
    ['varchar(191) COLLATE utf8mb4_bin', 'has the collation utf8mb4_bin'],
    ['varchar(191) COLLATE utf8mb4_general_nopad_ci', 'has the collation utf8mb4_general_nopad_ci'],
    ['char(191) COLLATE utf8mb4_nopad_bin', 'has the type char'],
    ['varbinary(191)', 'has the type varbinary'],
  ],
  sqlite: [
    ['TEXT COLLATE NOCASE', 'has the collation NOCASE'],
    ['varchar(255) collate rtrim', 'has the collation RTRIM'],
    ['INTEGER', 'has the type INTEGER'],
    ['STRING', 'has the type STRING'],
    ['NUMERIC', 'has the type NUMERIC'],
  ],
}

const TAKEN: Readonly<Record<Engine, readonly string[]>> = {
  postgres: [
    'text',
    'varchar(100)',
    'text COLLATE "C"',
    'varchar COLLATE exact',
    'plain_name',
    'name_of_plain',
  ],
  mysql: [
    'varchar(191) COLLATE utf8mb4_nopad_bin',
    'varchar(191) CHARACTER SET ascii COLLATE ascii_nopad_bin',
  ],
  sqlite: ['TEXT', 'varchar(255) COLLATE BINARY', 'BLOB'],
}

/** Every column by which a row is found for somebody. */
const COLUMNS = ['id', 'account_id', 'webhook_secret_hash', 'api_key_public_id']

describeOn('a column that has to be compared exactly', databases, (backend) => {
  const engine = engineOf(backend.name)
  let opened: OpenBackend
  let dataSource: DataSource
  before(async () => {
    opened = await backend.open([Specimen, Widget])
    dataSource = opened.dataSource as DataSource
    for (const text of SETUP[engine]) await dataSource.query(text)
  })
  after(() => opened?.close())

  /** Makes the table anew, with one column of another type. */
  const make = async (column: string, type: string) => {
    await dataSource.query('DROP TABLE IF EXISTS specimens')
    const changed = (text: string) =>
      text.startsWith('CREATE TABLE')
        ? text.replace(new RegExp(`(["\`])${column}\\1 [^\\n]*?( NOT NULL)?,\\n`), `${column} ${type}$2,\n`)
        : text
    const { query } = collated(dataSource, backend)
    await createTables(
      {
        query: (text: string, values?: unknown[]) =>
          query.call(dataSource, changed(text), values) as Promise<never>,
      },
      [Specimen],
      opened.database?.dialect.name ?? 'sqlite',
    )
  }

  for (const [type, told] of REFUSED[engine])
    it(`is refused by every operation as ${type}, with its name and what to do`, async () => {
      for (const column of COLUMNS) {
        await make(column, type)
        const attempts: readonly ((specimens: InstanceType<typeof Specimens>) => Promise<unknown>)[] = [
          (specimens) => specimens.get('a', { context }),
          (specimens) => specimens.list({}, { context }),
          (specimens) => specimens.create({ id: 'a' }, { context }),
          (specimens) => specimens.update('a', { title: 'x' }, ['title'], { context }),
          (specimens) => specimens.delete('a', { context }),
          (specimens) => specimens.undelete('a', { context }),
          (specimens) => specimens.batchGet(['a'], { context }),
          (specimens) => specimens.batchDelete(['a'], { context }),
          (specimens) => specimens.purgeExpired(new Date(), { context }),
          (specimens) => specimens.lookupByWebhookSecretHash('h', { context }),
          (specimens) => specimens.revealWebhookSecret('a', { context }),
          (specimens) => specimens.verifyApiKey(`ib_${'a'.repeat(22)}_${'b'.repeat(43)}`, { context }),
          (specimens) =>
            specimens.transaction((inside) => specimens.get('a', { context: inside }), { context }),
        ]
        for (const attempt of attempts) {
          const { problems } = await rejection(
            attempt(new Specimens(dataSource, subjectOptions)),
            DeclarationError,
          )
          expect(problems).to.have.length(1)
          expect(problems[0]).to.contain(`${column} ${told}, which treats different strings as equal: use `)
        }
      }
    })

  for (const type of TAKEN[engine])
    it(`is taken as ${type}`, async () => {
      for (const column of COLUMNS) {
        await make(column, type)
        const { id, accountId } = await new Specimens(dataSource, subjectOptions).create(
          { id: 'a' },
          { context },
        )
        expect({ id, accountId }).to.deep.equal({ id: 'a', accountId: 'ACME' })
      }
    })

  it('may be of a table that is made later, and is asked about then', async () => {
    await dataSource.query('DROP TABLE IF EXISTS specimens')
    const specimens = new Specimens(dataSource, subjectOptions)
    await rejection(specimens.get('a', { context }), Error)
    const [type = '', told = ''] = REFUSED[engine][0] ?? []
    await make('account_id', type)
    await rejection(specimens.get('a', { context }), DeclarationError, told)
    await make('account_id', TAKEN[engine][0] ?? '')
    await specimens.create({ id: 'a' }, { context })
  })

  if (engine !== 'postgres')
    it('is found whatever case the database spells its name in', async () => {
      await make('account_id', REFUSED[engine][0]?.[0] ?? '')
      await dataSource.query('ALTER TABLE specimens RENAME COLUMN account_id TO ACCOUNT_ID')
      await rejection(
        new Specimens(dataSource, subjectOptions).get('a', { context }),
        DeclarationError,
        'account_id',
      )
    })

  it('is asked about once by calls that come at the same time, of which one may leave', async () => {
    await make('account_id', TAKEN[engine][0] ?? '')
    const specimens = new Specimens(dataSource, subjectOptions)
    const asked: string[] = []
    const stop = watchStatements(dataSource, ({ text }) => {
      if (/pg_attribute|information_schema|pragma_table_info/.test(text)) asked.push(text)
    })
    const leaving = new AbortController()
    const left = specimens.get('a', { context: context.with({ signal: leaving.signal }) })
    const calls = Array.from({ length: 64 }, () => specimens.list({}, { context }))
    leaving.abort()
    await rejection(left, Cancelled)
    const pages = await Promise.all(calls)
    stop()
    expect(pages.map(({ items }) => items.length)).to.deep.equal(pages.map(() => 0))
    expect(asked).to.have.length(1)
  })

  it('is asked about through the connection of the transaction that is open', async () => {
    await createTables(collated(dataSource, backend), [Widget], opened.database?.dialect.name ?? 'sqlite')
    const outer = new TypeormRepository(dataSource, Widget)
    // As many at once as the pool has connections: another one could never be had.
    await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        outer.transaction(
          async (inside) => {
            await new Promise((resolve) => setTimeout(resolve, 20))
            await new TypeormRepository(dataSource, Widget).create({ id: `w${i}` }, { context: inside })
          },
          { context },
        ),
      ),
    )
    expect((await outer.list({}, { context })).items).to.have.length(10)
  })
})
