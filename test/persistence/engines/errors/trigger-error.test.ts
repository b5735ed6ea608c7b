import { expect } from 'chai'
import { QueryFailedError } from 'typeorm'
import { Aborted, ErrPreconditionFailed } from '../../../../lib/errors.js'
import { constraintError } from '../../../../lib/persistence/engines/errors/constraint-error.js'
import type { Database } from '../../../../lib/persistence/engines/executor/executor.js'
import { openSubject, type OpenSubject } from '../../../conformance/repository/open-subject.js'
import { draft, inAcme } from '../../../conformance/repository/subject.js'
import { databases, describeOn, type OpenBackend } from '../../../support/databases/backends.js'
import { rejection } from '../../../support/rejection.js'
import { run } from '../../../support/databases/statement.js'

const raising = (table: string, body: string) => [
  `CREATE TABLE ${table} (id int)`,
  `CREATE FUNCTION ${table}_check() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$`,
  `CREATE TRIGGER ${table}_trigger BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION ${table}_check()`,
]
const signalling = (table: string, body: string) => [
  `CREATE TABLE ${table} (id int)`,
  `CREATE TRIGGER ${table}_trigger BEFORE INSERT ON ${table} FOR EACH ROW ${body}`,
]
const aborting = (table: string, how: string) => [
  `CREATE TABLE ${table} (id int)`,
  `CREATE TRIGGER ${table}_trigger BEFORE INSERT ON ${table} BEGIN SELECT RAISE(${how}, 'too heavy'); END`,
]

/**
 * A trigger of the database's owner that stands against a write; and NULL where a statement of many rows sets
 * it.
 */
const TRIGGERS: Readonly<
  Record<
    'postgres' | 'mysql' | 'sqlite',
    readonly (readonly [what: string, setup: readonly string[], text: string])[]
  >
> = {
  postgres: [
    [
      'RAISE in a trigger',
      raising('t1', `RAISE EXCEPTION 'too heavy: %', new.id;`),
      'INSERT INTO t1 VALUES (1)',
    ],
    [
      'RAISE with a state of its own',
      raising('t2', `RAISE EXCEPTION 'too heavy' USING ERRCODE = '45000';`),
      'INSERT INTO t2 VALUES (1)',
    ],
    [
      'RAISE check_violation',
      raising('t3', `RAISE check_violation USING MESSAGE = 'too heavy';`),
      'INSERT INTO t3 VALUES (1)',
    ],
    ['ASSERT in a trigger', raising('t4', `ASSERT false, 'too heavy';`), 'INSERT INTO t4 VALUES (1)'],
    [
      'NULL in a later row',
      ['CREATE TABLE n1 (id int NOT NULL)'],
      'INSERT INTO n1 SELECT 1 UNION ALL SELECT NULL',
    ],
  ],
  mysql: [
    ['SIGNAL in a trigger', signalling('t1', `SIGNAL SQLSTATE '45000'`), 'INSERT INTO t1 VALUES (1)'],
    [
      'SIGNAL with a number of its own',
      signalling('t2', `SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 30001, MESSAGE_TEXT = 'too heavy'`),
      'INSERT INTO t2 VALUES (1)',
    ],
    [
      'SIGNAL with a state of its own',
      signalling('t3', `SIGNAL SQLSTATE '45123' SET MESSAGE_TEXT = 'too heavy'`),
      'INSERT INTO t3 VALUES (1)',
    ],
    [
      'NULL in a later row',
      ['CREATE TABLE n1 (id int NOT NULL)'],
      'INSERT INTO n1 SELECT 1 UNION ALL SELECT NULL',
    ],
  ],
  sqlite: [
    ['RAISE(ABORT) in a trigger', aborting('t1', 'ABORT'), 'INSERT INTO t1 VALUES (1)'],
    ['RAISE(FAIL) in a trigger', aborting('t2', 'FAIL'), 'INSERT INTO t2 VALUES (1)'],
    ['RAISE(ROLLBACK) in a trigger', aborting('t3', 'ROLLBACK'), 'INSERT INTO t3 VALUES (1)'],
    [
      'NULL in a later row',
      ['CREATE TABLE n1 (id int NOT NULL)'],
      'INSERT INTO n1 SELECT 1 UNION ALL SELECT NULL',
    ],
  ],
}

describeOn('constraintError of a trigger', databases, ({ name, open }) => {
  const engine = name === 'postgres' ? 'postgres' : name.includes('sqlite') ? 'sqlite' : 'mysql'
  let backend: OpenBackend
  let database: Database
  before(async () => {
    backend = await open([])
    database = backend.database!
  })
  after(() => backend?.close())

  for (const [what, setup, text] of TRIGGERS[engine])
    it(`says precondition to ${what}`, async () => {
      for (const each of setup) await backend.dataSource!.query(each)
      for (const error of [
        await rejection(run(database, text), Error),
        await rejection(backend.dataSource!.query(text), QueryFailedError),
      ]) {
        const told = constraintError(error)
        expect(told).to.be.instanceOf(ErrPreconditionFailed)
        expect(`${told?.wireMessage} ${JSON.stringify(told?.details)}`).to.not.contain('heavy')
      }
    })
})

describeOn(
  'a transaction in which a trigger stands against a write',
  databases.filter(({ name }) => name.includes('sqlite')),
  (backend) => {
    let subject: OpenSubject
    before(async () => {
      subject = await openSubject(backend)
      const trigger = (how: string, count: number) =>
        subject.dataSource!.query(
          `CREATE TRIGGER t${count} BEFORE INSERT ON specimens WHEN new.count = ${count} BEGIN SELECT RAISE(${how}, 'too heavy'); END`,
        )
      await trigger('ROLLBACK', 10)
      await trigger('ABORT', 11)
    })
    beforeEach(() => subject.clear())
    after(() => subject?.close())

    const write = (count: number, isNested = false) =>
      inAcme(async () => {
        const { specimens } = subject
        const heavy = () => specimens.create(draft({ id: 'heavy', count }))
        const outcome: unknown = await specimens
          .transaction(async () => {
            await specimens.create(draft({ id: 'before' }))
            await rejection(isNested ? specimens.transaction(heavy) : heavy(), ErrPreconditionFailed)
            await specimens.create(draft({ id: 'after' })).catch(() => {})
          })
          .then(
            () => 'committed',
            (error: unknown) => error,
          )
        const ids = (await specimens.list()).items.map(({ id }) => id)
        return { outcome, ids }
      })

    for (const isNested of [false, true]) {
      it(`is over as a whole where the trigger rolls back${isNested ? ', from a nested one' : ''}`, async () => {
        const { outcome, ids } = await write(10, isNested)
        expect(outcome).to.be.instanceOf(Aborted)
        expect(ids).to.deep.equal([])
        // The connection is as good as before.
        expect((await write(11)).ids).to.deep.equal(['after', 'before'])
      })

      it(`goes on where the trigger stops the statement alone${isNested ? ', in a nested one' : ''}`, async () => {
        expect(await write(11, isNested)).to.deep.equal({ outcome: 'committed', ids: ['after', 'before'] })
      })
    }
  },
)
