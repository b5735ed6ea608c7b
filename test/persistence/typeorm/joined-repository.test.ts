import { expect } from 'chai'
import type { DataSource, EntityManager } from 'typeorm'
import { RequestContext } from '../../../lib/context.js'
import { Aborted, ErrConflict } from '../../../lib/errors.js'
import type { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { type OpenSubject, openSubject } from '../../conformance/repository/open-subject.js'
import { draft, inAcme } from '../../conformance/repository/subject.js'
import { databases, describeOn } from '../../support/databases/backends.js'
import { Note, type Specimen } from '../../support/entities/specimen.js'
import { rejection } from '../../support/rejection.js'

type Specimens = InstanceType<ReturnType<typeof repositoryOf<Specimen>>>
type Notes = InstanceType<ReturnType<typeof repositoryOf<Note>>>

class Stop extends Error {}

const note = (name: string): Note => Object.assign(new Note(), { name, text: '', stars: 1 })

describeOn('joinedRepository', databases, (backend) => {
  let subject: OpenSubject
  let dataSource: DataSource
  before(async () => {
    subject = await openSubject(backend)
    dataSource = subject.dataSource!
  })
  beforeEach(() => subject.clear())
  after(() => subject?.close())

  const specimens = () => subject.specimens as Specimens
  const notes = () => subject.notes as Notes
  const names = async () => (await subject.notes.list()).items.map(({ name }) => name)
  const ids = async () => (await subject.specimens.list()).items.map(({ id }) => id)
  const make = (manager: EntityManager, id: string, code = id) =>
    specimens().withManager(manager).create(draft({ id, code }))

  it('has a repository join what TypeORM has begun, whatever becomes of it', () =>
    inAcme(async () => {
      const write = (end: () => void) =>
        dataSource.transaction(async (manager) => {
          await manager.save(note('before'))
          const context = RequestContext.current()
          await specimens()
            .withManager(manager)
            .create(draft({ id: 'a', code: 'a' }), { context })
          await rejection(make(manager, 'b', 'a'), ErrConflict)
          await manager.save(note('after'))
          expect((await specimens().withManager(manager).get('a')).id).to.equal('a')
          expect(await manager.countBy(Note, {})).to.equal(2)
          end()
        })
      await rejection(
        write(() => {
          throw new Stop()
        }),
        Stop,
      )
      expect([await ids(), await names()]).to.deep.equal([[], []])
      await write(() => {})
      expect([await ids(), await names()]).to.deep.equal([['a'], ['after', 'before']])
    }))

  it('follows the savepoints of TypeORM, and makes its own', () =>
    inAcme(async () => {
      const done: string[] = []
      await dataSource.transaction(async (manager) => {
        await make(manager, 'a')
        await rejection(
          manager.transaction(async (inner) => {
            const tasks = specimens().withManager(inner)
            await tasks.create(draft({ id: 'b', code: 'b' }))
            await tasks.transaction(async ({ afterCommit }) => afterCommit(() => done.push('lost')))
            throw new Stop()
          }),
          Stop,
        )
        await manager.transaction(async (inner) => {
          await make(inner, 'c')
        })
        await rejection(make(manager, 'd', 'a'), ErrConflict)
        await specimens()
          .withManager(manager)
          .transaction(async ({ afterCommit }) => {
            await subject.specimens.create(draft({ id: 'e', code: 'e' }))
            afterCommit(() => done.push('kept'))
          })
        await rejection(
          specimens()
            .withManager(manager)
            .transaction(async () => {
              await subject.specimens.create(draft({ id: 'f', code: 'f' }))
              throw new Stop()
            }),
          Stop,
        )
        expect(done).to.deep.equal([])
      })
      expect(await ids()).to.deep.equal(['a', 'c', 'e'])
      expect(done).to.deep.equal(['kept'])
    }))

  it('keeps what TypeORM wrote beside a call that fails', () =>
    inAcme(async () => {
      await dataSource.transaction(async (manager) => {
        await make(manager, 'a')
        await Promise.all([
          manager.save(note('one')),
          rejection(make(manager, 'b', 'a'), ErrConflict),
          manager.save(note('two')),
          make(manager, 'c'),
        ])
      })
      expect([await ids(), await names()]).to.deep.equal([
        ['a', 'c'],
        ['one', 'two'],
      ])
    }))

  it('loses nothing silently after a statement of TypeORM that failed and was caught', () =>
    inAcme(async () => {
      const done: string[] = []
      const writing = dataSource.transaction(async (manager) => {
        await specimens()
          .withManager(manager)
          .transaction(async ({ afterCommit }) => {
            await subject.specimens.create(draft({ id: 'a', code: 'a' }))
            afterCommit(() => done.push('committed'))
          })
        await rejection(manager.query('SELECT nothing FROM nowhere'), Error)
      })
      if (backend.name === 'postgres')
        await rejection(writing, Aborted, 'a statement of the transaction failed')
      else await writing
      const isKept = backend.name !== 'postgres'
      expect([await ids(), done]).to.deep.equal(isKept ? [['a'], ['committed']] : [[], []])
    }))

  it('keeps the rest after a statement of TypeORM that failed in a savepoint', () =>
    inAcme(async () => {
      await dataSource.transaction(async (manager) => {
        await make(manager, 'a')
        await rejection(
          manager.transaction((inner) => inner.query('SELECT nothing FROM nowhere')),
          Error,
        )
        await make(manager, 'b')
      })
      expect(await ids()).to.deep.equal(['a', 'b'])
    }))

  it('rolls back when a call was not awaited, and refuses one that comes later', () =>
    inAcme(async () => {
      const loose: Promise<unknown>[] = []
      let kept: EntityManager | undefined
      const failing = dataSource.transaction((manager) => {
        kept = manager
        loose.push(make(manager, 'a'))
        return Promise.resolve()
      })
      await rejection(failing, TypeError, 'did not await Specimen.create')
      await Promise.allSettled(loose)
      expect(await ids()).to.deep.equal([])
      expect(() => specimens().withManager(kept!)).to.throw(TypeError, 'no open transaction')
    }))

  it('takes the manager of a transaction of ours as well, and no other', () =>
    inAcme(async () => {
      const failing = specimens().transaction(async ({ manager }) => {
        await make(manager, 'a')
        throw new Stop()
      })
      await rejection(failing, Stop)
      expect(await ids()).to.deep.equal([])
      expect(() => specimens().withManager(dataSource.manager)).to.throw(TypeError, 'no open transaction')
    }))

  if (backend.name === 'sqlite' || backend.name === 'better-sqlite3')
    it('is what a call is told to use that would wait for the transaction around it', () =>
      inAcme(async () => {
        await dataSource.transaction(async (manager) => {
          await manager.save(note('a'))
          await rejection(subject.notes.get('a'), TypeError, 'withManager')
          await rejection(subject.notes.create(note('b')), TypeError, 'withManager')
          expect((await notes().withManager(manager).get('a')).name).to.equal('a')
        })
        expect(await names()).to.deep.equal(['a'])
      }))
})
