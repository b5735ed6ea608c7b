import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { BeforeUpdate, Column, Entity, PrimaryColumn } from 'typeorm'
import { ETag, Resource, SoftDeletable, TenantScoped } from '../../../decorators/index.js'
import { type CallFailure, RequestContext } from '../../../lib/context.js'
import { ErrNotFound, ErrPreconditionFailed, Internal } from '../../../lib/errors.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { transaction } from '../../../lib/persistence/sql/transaction.js'
import { databases, describeOn, coalesced } from '../../support/databases/backends.js'
import { rejection } from '../../support/rejection.js'

abstract class Guarded {
  @PrimaryColumn({ length: 40 }) id!: string
  @Column({ length: 80 }) title!: string
  @ETag() etag!: string
  accountId!: string
}

@Resource()
@Entity('bolts')
@TenantScoped()
class Bolt extends Guarded {}

@Resource()
@Entity('clips')
@TenantScoped()
@SoftDeletable()
class Clip extends Guarded {
  deleteTime?: Date

  @BeforeUpdate() tidy(): void {
    this.title = this.title.trim()
  }
}

/** Writes of `keep` are left out, and noted. */
const TRIGGERS: Readonly<Record<string, (table: string) => readonly string[]>> = {
  postgres: (table) => [
    `CREATE OR REPLACE FUNCTION leave_out() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       INSERT INTO notes VALUES (TG_OP);
       IF TG_OP = 'DELETE' THEN RETURN CASE WHEN OLD.title = 'keep' THEN NULL ELSE OLD END; END IF;
       RETURN CASE WHEN NEW.title = 'skip' THEN NULL WHEN TG_OP = 'UPDATE' AND OLD.title = 'keep' THEN NULL ELSE NEW END;
     END $$`,
    `CREATE TRIGGER leaves_out BEFORE INSERT OR UPDATE OR DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION leave_out()`,
  ],
  sqlite: (table) =>
    ['INSERT', 'UPDATE', 'DELETE'].map(
      (event) =>
        `CREATE TRIGGER ${table}_${event} BEFORE ${event} ON ${table} WHEN ${event === 'INSERT' ? `NEW.title = 'skip'` : event === 'UPDATE' ? `NEW.title = 'skip' OR OLD.title = 'keep'` : `OLD.title = 'keep'`}
         BEGIN INSERT INTO notes VALUES ('${event}'); SELECT RAISE(IGNORE); END`,
    ),
}
const ENGINES = [...databases, ...coalesced].filter(({ name }) => /postgres|sqlite/.test(name))

describeOn('a write that a trigger suppresses', ENGINES, (backend) => {
  let dataSource: DataSource
  let close: () => Promise<void>
  const failures: CallFailure[] = []
  const asTenant = <T>(tenant: string, fn: () => Promise<T>): Promise<T> =>
    new RequestContext({
      principal: { tenant, subject: 'ada', groups: [], scopes: [] },
      onFailure: (failure) => void failures.push(failure),
    }).run(fn)

  before(async () => {
    const opened = await backend.open([Bolt, Clip])
    close = opened.close
    dataSource = opened.dataSource!
    await createTables(dataSource, [Bolt, Clip], opened.database!.dialect.name)
    await dataSource.query('CREATE TABLE notes (event varchar(20))')
    const engine = /postgres/.test(backend.name) ? 'postgres' : 'sqlite'
    for (const table of ['bolts', 'clips'])
      for (const text of TRIGGERS[engine]!(table)) await dataSource.query(text)
  })
  after(() => close())

  const notes = async () => (await dataSource.query<{ event: string }[]>('SELECT event FROM notes')).length

  for (const Entity of [Bolt, Clip])
    it(`is FAILED_PRECONDITION for a ${Entity.name}, is logged, and leaves nothing behind`, async () => {
      const repository = new (repositoryOf<Bolt | Clip>(Entity))(dataSource)
      await asTenant('acme', async () => {
        for (const id of ['a', 'b']) await repository.create({ id, title: 'free' })
        await repository.create({ id: 'k', title: 'keep' })
        const before = await notes()
        const writes: readonly (() => Promise<unknown>)[] = [
          () => repository.create({ id: 'c', title: 'skip' }),
          () => repository.update('a', { title: 'skip' }, ['title']),
          () => repository.modify('a', () => ({ title: 'skip' })),
          () => repository.delete('k'),
          () =>
            repository.batchUpdate([
              { key: 'a', entity: { title: 'other' }, fieldMask: ['title'] },
              { key: 'b', entity: { title: 'skip' }, fieldMask: ['title'] },
            ] as never),
          () => repository.batchDelete(['a', 'k']),
          () => transaction(dataSource, () => repository.update('a', { title: 'skip' }, ['title'])),
        ]
        for (const write of writes) {
          failures.length = 0
          await rejection(write(), ErrPreconditionFailed)
          expect(failures.map(({ message }) => message).join()).to.match(/a trigger .* suppressed a write/)
          expect(await notes()).to.equal(before)
          expect(await repository.get('a')).to.include({ title: 'free' })
        }
        await transaction(dataSource, async () => {
          await rejection(repository.update('a', { title: 'skip' }, ['title']), ErrPreconditionFailed)
          await repository.update('b', { title: 'after' }, ['title'])
        })
        expect(await repository.get('b')).to.include({ title: 'after' })
      })
    })

  it('is told from rows that are missing, of another tenant, or have another etag', async () => {
    const bolts = new (repositoryOf(Bolt))(dataSource)
    await asTenant('umbra', async () => {
      failures.length = 0
      for (const id of ['a', 'none']) {
        await rejection(bolts.update(id, { title: 'skip' }, ['title']), ErrNotFound)
        await rejection(bolts.delete(id), ErrNotFound)
        await rejection(bolts.batchDelete([id]), ErrNotFound)
      }
      await bolts.create({ id: 'a', title: 'mine' })
      const stale = bolts.update('a', { title: 'skip' }, ['title'], { ifMatch: '"old"' })
      expect((await rejection(stale, ErrPreconditionFailed)).details).to.deep.include.members([
        { ...ErrPreconditionFailed.etag().details.at(-1) },
      ])
      expect(failures).to.deep.equal([])
    })
  })
})

/** What makes a row with the title `move` one of the tenant `umbra`. */
const MOVING: Readonly<Record<string, readonly string[]>> = {
  postgres: [
    `CREATE FUNCTION move() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       IF NEW.title = 'move' THEN NEW.account_id := 'umbra'; END IF; RETURN NEW; END $$`,
    'CREATE TRIGGER moves BEFORE INSERT OR UPDATE ON clips FOR EACH ROW EXECUTE FUNCTION move()',
  ],
  mysql: ['INSERT', 'UPDATE'].map(
    (event) =>
      `CREATE TRIGGER moves_${event} BEFORE ${event} ON clips FOR EACH ROW SET NEW.account_id = IF(NEW.title = 'move', 'umbra', NEW.account_id)`,
  ),
}
const MOVERS = [...databases, ...coalesced].filter(({ name }) => !/sqlite/.test(name))

describeOn('a trigger that gives a row to another tenant', MOVERS, (backend) => {
  it('is INTERNAL, is logged on PostgreSQL, and leaves nothing behind', async () => {
    const { dataSource, database, close } = await backend.open([Clip])
    const failures: CallFailure[] = []
    try {
      await createTables(dataSource!, [Clip], database!.dialect.name)
      for (const text of MOVING[/postgres/.test(backend.name) ? 'postgres' : 'mysql']!)
        await dataSource!.query(text)
      const clips = new (repositoryOf(Clip))(dataSource!)
      const principal = { tenant: 'acme', subject: 'ada', groups: [], scopes: [] }
      const onFailure = (failure: CallFailure) => void failures.push(failure)
      await new RequestContext({ principal, onFailure }).run(async () => {
        await clips.create({ id: 'a', title: 'free' })
        const writes: readonly (() => Promise<unknown>)[] = [
          () => clips.create({ id: 'b', title: 'move' }),
          () => clips.update('a', { title: 'move' }, ['title']),
          () => clips.modify('a', () => ({ title: 'move' })),
          () => clips.batchUpdate([{ key: 'a', entity: { title: 'move' }, fieldMask: ['title'] }] as never),
        ]
        for (const write of writes) {
          failures.length = 0
          await rejection(write(), Internal)
          if (/postgres/.test(backend.name))
            expect(failures.map(({ message }) => message).join()).to.match(/changed a row's tenant/)
          expect(await clips.get('a')).to.include({ title: 'free' })
        }
      })
      await RequestContext.as({ tenant: 'umbra', subject: 'eve' }, async () =>
        expect((await clips.list({})).items).to.deep.equal([]),
      )
    } finally {
      await close()
    }
  })
})

/** Where rows of the table `base` have a trigger that leaves updates and deletes out. */
const BEHIND: Readonly<Record<string, string>> = {
  'a view': 'CREATE VIEW bolts AS SELECT * FROM base',
  'a view of a view':
    'CREATE VIEW middle AS SELECT * FROM base; CREATE VIEW bolts AS SELECT * FROM middle WHERE id IS NOT NULL',
  'a table that another one inherits': 'CREATE TABLE bolts (LIKE base); ALTER TABLE base INHERIT bolts',
}

const POSTGRES = databases.filter(({ name }) => name === 'postgres')

describeOn('a suppressing trigger behind the table', POSTGRES, (backend) => {
  for (const [what, sql] of Object.entries(BEHIND))
    it(`is found behind ${what}`, async () => {
      const { dataSource, close } = await backend.open([Bolt])
      try {
        for (const text of [
          'CREATE TABLE base (id varchar(40) NOT NULL, account_id varchar(255) NOT NULL, title varchar(80) NOT NULL, etag varchar(64) NOT NULL, PRIMARY KEY (account_id, id))',
          `INSERT INTO base VALUES ('a', 'acme', 'free', 'e')`,
          'CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$',
          'CREATE TRIGGER keeps BEFORE UPDATE OR DELETE ON base FOR EACH ROW EXECUTE FUNCTION keep()',
          sql,
        ])
          await dataSource!.query(text)
        const bolts = new (repositoryOf(Bolt))(dataSource!)
        await RequestContext.as({ tenant: 'acme', subject: 'ada' }, async () => {
          await rejection(bolts.update('a', { title: 'new' }, ['title']), ErrPreconditionFailed)
          await rejection(bolts.delete('a'), ErrPreconditionFailed)
          expect(await bolts.get('a')).to.include({ title: 'free' })
        })
      } finally {
        await close()
      }
    })
})
