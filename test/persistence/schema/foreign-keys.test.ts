import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { type Dialect, migrate } from '../../../lib/migrations/index.js'
import { schemaComparison, tableMigrations } from '../../../lib/persistence/index.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { collated } from '../../conformance/repository/open-subject.js'
import { valuesOf } from '../../migrations/alteration.js'
import { file, onEachEngine } from '../../migrations/each-engine.js'
import { databases, describeOn, type OpenBackend } from '../../support/databases/backends.js'
import {
  Charter,
  Currency,
  Left,
  Project,
  RELATED,
  Right,
  Task,
  Team,
} from '../../conformance/relations/projects.js'

const EXPORTS = { Charter, Currency, Left, Project, Right, Task, Team }

const filesOf = (dialect: Dialect): Record<string, string> =>
  Object.assign(
    {},
    ...tableMigrations(EXPORTS).map((table, at) =>
      file(
        `${String(at + 2).padStart(4, '0')}_${table.table}`,
        table.sqlFor(dialect).up,
        table.sqlFor(dialect).down,
      ),
    ),
  ) as Record<string, string>

describe('tableMigrations', () => {
  it('makes a table before those that refer to it, and else goes by name', () => {
    expect(tableMigrations(EXPORTS).map(({ table }) => table)).to.deep.equal([
      ...['currencies', 'lefts', 'rights', 'teams', 'projects', 'charters', 'tasks'],
    ])
  })

  it('says what of another module has to be there', () => {
    const [notes] = tableMigrations({ Project }).map((one) => one.notes)
    expect(notes).to.deep.equal([
      'projects refers to Team of another module: its table must exist first, with a unique index on (account_id, id)',
      'projects refers to Currency of another module: its table must exist first',
    ])
  })
})

onEachEngine('the foreign keys of a live schema', (database, dialect) => {
  const migrator = () => migrate({ url: database().url, files: filesOf(dialect) })
  const verify = () => migrator().verify(schemaComparison(EXPORTS))

  it('are equal when the files of migrate new made them, which also take them back', async () => {
    await migrator().up()
    expect(await verify()).to.deep.equal([])
    expect((await migrator().down(1)).rolledBack).to.have.length(7)
    expect((await migrator().up()).applied).to.have.length(7)
  })

  it('are equal when createTables made them, once or twice', async () => {
    const query = (text: string, values: readonly (string | null)[] = []) =>
      database().rows(
        values.reduce<string>(
          (filled, value) => filled.replace(/\$1|\?/, () => (value === null ? 'NULL' : `'${value}'`)),
          text,
        ),
      )
    for (let time = 0; time < 2; time++)
      await createTables({ query } as never, RELATED, dialect === 'mysql' ? 'mariadb' : dialect)
    expect((await verify()).filter(({ kind }) => kind !== 'pending')).to.deep.equal([])
  })

  const drop = 'ALTER TABLE tasks DROP CONSTRAINT tasks_account_id_project_id_fkey'
  const name = 'tasks_account_id_project_id_fkey'
  const wanted = '(account_id, project_id) → projects (account_id, id)'
  const cases: readonly (readonly [name: string, sql: readonly string[], found: object])[] = [
    [
      'one is missing',
      [drop],
      { kind: 'addForeignKey', name, wanted, next: dialect === 'mysql' ? 'contract' : 'expand' },
    ],
    [
      'one is to the key alone',
      [
        drop,
        'CREATE UNIQUE INDEX projects_only_id ON projects (id)',
        'ALTER TABLE tasks ADD CONSTRAINT of_project FOREIGN KEY (project_id) REFERENCES projects (id)',
      ],
      {
        ...{ kind: 'extraForeignKey', name: 'of_project', is: '(project_id) → projects (id)' },
        ...{ wanted, next: 'both' },
      },
    ],
    [
      'one removes rows by itself',
      [
        drop,
        'ALTER TABLE tasks ADD CONSTRAINT tasks_account_id_project_id_fkey FOREIGN KEY (account_id, project_id) REFERENCES projects (account_id, id) ON DELETE CASCADE',
      ],
      { kind: 'extraForeignKey', name, is: `${wanted} ON DELETE CASCADE`, wanted, next: 'both' },
    ],
    [
      'a second one removes rows',
      [
        'ALTER TABLE tasks ADD CONSTRAINT also FOREIGN KEY (account_id, project_id) REFERENCES projects (account_id, id) ON DELETE CASCADE',
      ],
      {
        ...{ kind: 'extraForeignKey', name: 'also', is: `${wanted} ON DELETE CASCADE` },
        ...{ wanted, next: 'drop' },
      },
    ],
  ]
  for (const [what, sql, found] of cases)
    it(`are told apart: ${what}`, async () => {
      await migrator().up()
      for (const text of sql) await database().rows(text)
      const differences = (await verify()).map(valuesOf)
      expect(differences.filter((one) => !('name' in one) || one.name !== 'projects_only_id')).to.deep.equal([
        { table: 'tasks', ...found },
      ])
    })
})

describeOn('foreign keys', databases, (backend) => {
  let opened: OpenBackend
  let query: (text: string) => Promise<unknown>
  before(async () => {
    opened = await backend.open(RELATED)
    const dataSource = collated(opened.dataSource as DataSource, backend)
    await createTables(dataSource, RELATED, opened.database!.dialect.name)
    query = (text) => dataSource.query(text)
    for (const tenant of ['acme', 'umbrella']) {
      await query(`INSERT INTO teams (id, account_id) VALUES ('t-${tenant}', '${tenant}')`)
      await query(`INSERT INTO projects (id, account_id, etag) VALUES ('p-${tenant}', '${tenant}', 'e')`)
    }
  })
  after(() => opened?.close())

  const refused = async (text: string) => {
    const error: unknown = await query(text).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(error, text).to.be.an('error')
    expect(String(error)).to.match(/foreign key/i)
  }

  it('refuse a reference to another tenant that is written by hand', async () => {
    await query(`INSERT INTO tasks (id, account_id, project_id, etag) VALUES ('a', 'acme', 'p-acme', 'e')`)
    await refused(
      `INSERT INTO tasks (id, account_id, project_id, etag) VALUES ('b', 'acme', 'p-umbrella', 'e')`,
    )
    await refused(`UPDATE tasks SET project_id = 'p-umbrella' WHERE id = 'a'`)
    await refused(`UPDATE tasks SET account_id = 'umbrella' WHERE id = 'a'`)
    await refused(`UPDATE projects SET team_id = 't-umbrella' WHERE id = 'p-acme'`)
  })

  it('keep what is referred to', async () => {
    await query(
      `INSERT INTO tasks (id, account_id, project_id, etag) VALUES ('c', 'umbrella', 'p-umbrella', 'e')`,
    )
    await refused(`DELETE FROM projects WHERE id = 'p-umbrella'`)
  })

  it('take what refers to itself, and to one another', async () => {
    await query(
      `INSERT INTO tasks (id, account_id, project_id, after_id, etag) VALUES ('d', 'acme', 'p-acme', 'd', 'e')`,
    )
    await query(`INSERT INTO lefts (id, account_id) VALUES ('l', 'acme')`)
    await query(`INSERT INTO rights (id, account_id, left_id) VALUES ('r', 'acme', 'l')`)
    await query(`UPDATE lefts SET right_id = 'r' WHERE id = 'l'`)
    await refused(`UPDATE lefts SET right_id = 'x' WHERE id = 'l'`)
  })
})
