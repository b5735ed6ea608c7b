import { expect } from 'chai'
import { AshlarError, Unavailable, UnknownOutcome } from '../../../../lib/errors.js'
import { DriverFault } from '../../../../lib/faults/driver-fault.js'
import { resourceError } from '../../../../lib/persistence/engines/errors/resource-error.js'
import { transaction } from '../../../../lib/persistence/sql/transaction.js'
import { databases, describeOn, type OpenBackend } from '../../../support/databases/backends.js'
import { column, run } from '../../../support/databases/statement.js'
import { rejection } from '../../../support/rejection.js'

const NO_ROOM = `SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1114, MESSAGE_TEXT = 'The table is full'`

const TEXT = 'the database has no disk space, memory or connections left: retry later'

describe('an error of a database that lacks resources', () => {
  const fault = (fields: object, message = 'no') => new DriverFault(Object.assign(new Error(message), fields))
  const mysql = (errno: number, message = 'no') =>
    Object.assign(new Error(message), { errno, code: 'ER_ANY', sqlState: 'HY000' })

  for (const [name, error] of Object.entries({
    'a full disk of PostgreSQL': fault({ code: '53100', severity: 'ERROR' }),
    'no memory of PostgreSQL': fault({ code: '53200', severity: 'ERROR' }),
    'too many connections of PostgreSQL': fault({ code: '53300', severity: 'FATAL' }),
    'a failed write of PostgreSQL': fault({ code: '58030', severity: 'ERROR' }),
    'a full disk of MySQL': mysql(1021),
    'a full table of MySQL': mysql(1114),
    'no memory of MySQL': mysql(1037),
    'too many connections of MySQL': mysql(1040),
    'a failed write of MySQL': mysql(3, 'Error writing file \'./a\' (Errcode: 28 "No space left on device")'),
    'an error of an engine of MySQL': mysql(1030, 'Got error 28 from storage engine'),
    'a full disk of SQLite': fault({ code: 'SQLITE_FULL', errno: 13 }),
    'a failed write of SQLite': fault({ code: 'SQLITE_IOERR_WRITE', errno: 10 }),
  }))
    it(`is Unavailable: ${name}`, () => {
      const told = resourceError(error)
      expect(told).to.be.instanceOf(Unavailable)
      expect(told?.message).to.equal(TEXT)
      expect(told?.cause).to.be.instanceOf(DriverFault)
    })

  for (const [name, error] of Object.entries({
    'another error of PostgreSQL': fault({ code: '54000', severity: 'ERROR' }),
    'another error of MySQL': mysql(1064),
    'another error of an engine of MySQL': mysql(1030, 'Got error 128 from storage engine'),
    'what only looks like one': Object.assign(new Error('disk is full'), { errno: 1021 }),
    'an error of the caller': new AshlarError('INVALID_ARGUMENT', '53100'),
  }))
    it(`is none: ${name}`, () => expect(resourceError(error)).to.equal(undefined))
})

describeOn('a database that is full', databases, ({ open }) => {
  let backend: OpenBackend
  before(async () => {
    backend = await open([])
  })
  after(() => backend?.close())

  /** @returns a write that has no room. */
  const full = async (): Promise<string> => {
    const { dialect } = backend.database!
    if (dialect.name === 'sqlite') {
      await run(backend.database!, 'CREATE TABLE piled (text TEXT)')
      const [pages] = await column(backend.database!, 'PRAGMA page_count')
      await run(backend.database!, `PRAGMA max_page_count = ${pages}`)
      return 'INSERT INTO piled SELECT zeroblob(1000000)'
    }
    await run(backend.database!, 'CREATE TABLE piled (text text)')
    if (dialect.name !== 'postgres') {
      await run(backend.database!, `CREATE TRIGGER no_room BEFORE INSERT ON piled FOR EACH ROW ${NO_ROOM}`)
      return `INSERT INTO piled VALUES ('x')`
    }
    await run(
      backend.database!,
      `CREATE FUNCTION no_room() RETURNS trigger AS $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$ LANGUAGE plpgsql`,
    )
    await run(
      backend.database!,
      'CREATE TRIGGER no_room BEFORE INSERT ON piled FOR EACH ROW EXECUTE FUNCTION no_room()',
    )
    return `INSERT INTO piled VALUES ('x')`
  }

  it('is Unavailable, with the outcome known, and not ready while the write fails', async () => {
    const write = await full()
    const { dataSource, database } = backend
    const alone = await rejection(run(database!, write), Unavailable, TEXT)
    expect(alone).to.not.be.instanceOf(UnknownOutcome)
    expect(alone.cause).to.be.instanceOf(DriverFault)
    const inside = await rejection(
      transaction(dataSource!, ({ manager }) => manager.query(write)),
      Unavailable,
      TEXT,
    )
    expect(inside).to.not.be.instanceOf(UnknownOutcome)
    expect(await column(database!, 'SELECT count(*) AS n FROM piled')).to.deep.equal(['0'])
    await rejection(database!.checkWrites(), Unavailable, TEXT)
    if (database!.dialect.name === 'sqlite') await run(database!, 'PRAGMA max_page_count = 1000000')
    else
      await run(database!, `DROP TRIGGER no_room${database!.dialect.name === 'postgres' ? ' ON piled' : ''}`)
    await database!.checkWrites()
    expect(await column(database!, 'SELECT count(*) AS n FROM piled')).to.deep.equal(['0'])
  })

  it('repeats nothing that a rollback leaves: not ready once for each write that finds no room', async function () {
    const { database } = backend
    if (database!.dialect.name === 'postgres' || database!.dialect.name === 'sqlite') return this.skip()
    // Two rows are written before the third one finds no room, and stay.
    await run(database!, 'CREATE TABLE kept (text INTEGER) ENGINE = MyISAM')
    await run(
      database!,
      `CREATE TRIGGER no_room_for_three BEFORE INSERT ON kept FOR EACH ROW BEGIN IF NEW.text = 3 THEN ${NO_ROOM}; END IF; END`,
    )
    await rejection(run(database!, 'INSERT INTO kept VALUES (1), (2), (3)'), Unavailable, TEXT)
    await rejection(database!.checkWrites(), Unavailable, TEXT)
    await database!.checkWrites()
    expect(await column(database!, 'SELECT count(*) AS n FROM kept')).to.deep.equal(['2'])
  })
})
