import { expect } from 'chai'
import { RequestContext } from '../../../../lib/context.js'
import { ErrConflict } from '../../../../lib/errors.js'
import type { repositoryOf } from '../../../../lib/persistence/repository-of.js'
import type { TransactionContext } from '../../../../lib/persistence/sql/transaction-context.js'
import { Note, Specimen } from '../../../support/entities/specimen.js'
import { draft, type Holder, inAcme, rejection } from '../subject.js'
import { casesOf, Stop } from './cases.js'

type Overridden = InstanceType<ReturnType<typeof repositoryOf<Specimen>>>

/** What a transaction in memory says of them. */
export const managersInMemory = (holder: Holder): void => {
  it('reports that a transaction in memory does not have manager and sql', () =>
    inAcme(() =>
      holder.subject.specimens.transaction((context) => {
        expect(() => (context as TransactionContext).manager).to.throw(TypeError, 'in-memory')
        expect(() => (context as TransactionContext).sql).to.throw(TypeError, 'in-memory')
        expect(context.with({}).tenant).to.equal('acme')
        return Promise.resolve()
      }),
    ))
}

/** TypeORM's manager and SQL inside of a transaction. */
export const managers = (holder: Holder): void => {
  const { ids, make } = casesOf(holder)
  const notes = async () => (await holder.subject.notes.list()).items.map(({ name }) => name)
  const note = (name: string): Note => Object.assign(new Note(), { name, text: '', stars: 1 })

  describe('manager and sql of a transaction', () => {
    it('join it beside repositories, in a savepoint and in a timer too, and leave nothing when it rolls back', () => {
      const write = (end: () => void) =>
        holder.subject.specimens.transaction(async (context) => {
          const { manager, sql } = context as TransactionContext
          await make('a')
          await manager.save(note('saved'))
          await sql`INSERT INTO notes (name, text, stars) VALUES (${'by sql'}, ${''}, ${2})`
          await manager.transaction(async (inner) => {
            await inner.save(note('nested'))
            await make('b')
          })
          await new Promise((resolve, reject) => {
            setTimeout(() => void manager.save(note('timer')).then(resolve, reject), 1)
          })
          const given = { context: RequestContext.current() }
          await holder.subject.specimens.create(draft({ id: 'c' }), given)
          await rejection(manager.insert(Note, note('saved')), ErrConflict)
          expect(await notes()).to.deep.equal(['by sql', 'nested', 'saved', 'timer'])
          end()
        })
      return inAcme(async () => {
        const failing = write(() => {
          throw new Stop()
        })
        await rejection(failing, Stop)
        expect([await ids(), await notes()]).to.deep.equal([[], []])
        await write(() => {})
        expect(await ids()).to.deep.equal(['a', 'b', 'c'])
        expect(await notes()).to.deep.equal(['by sql', 'nested', 'saved', 'timer'])
      })
    })

    it('join it in a generator created and read inside, and with an overridden operation', () =>
      inAcme(async () => {
        const overridden = holder.subject.overridden() as Overridden
        const failing = overridden.transaction(async ({ manager, sql }) => {
          const each = async function* () {
            yield await manager.save(note('a'))
            await sql`INSERT INTO notes (name, text, stars) VALUES (${'b'}, ${''}, ${2})`
            yield await manager.findOneByOrFail(Note, { name: 'b' })
          }
          const seen: string[] = []
          for await (const { name } of each()) seen.push(name)
          await overridden.create(draft({ id: 'a', code: 'a' }))
          await overridden.withManager(manager).create(draft({ id: 'b', code: 'b' }))
          expect([seen, await ids()]).to.deep.equal([
            ['a', 'b'],
            ['a', 'a 2', 'b', 'b 2'],
          ])
          throw new Stop()
        })
        await rejection(failing, Stop)
        expect([await ids(), await notes()]).to.deep.equal([[], []])
      }))

    it('are rejected after its end, as is a generator that continues', () =>
      inAcme(async () => {
        let late: TransactionContext | undefined
        let going: AsyncGenerator<Note> | undefined
        await holder.subject.specimens.transaction(async (context) => {
          late = context as TransactionContext
          const { manager } = late
          const each = async function* () {
            yield await manager.save(note('a'))
            yield await manager.save(note('b'))
          }
          going = each()
          await going.next()
        })
        const { manager, sql } = late!
        await rejection(going!.next(), TypeError, 'has ended')
        await rejection(manager.save(note('c')), TypeError, 'has ended')
        await rejection(
          sql`INSERT INTO notes (name, text, stars) VALUES ('d', '', 1)` as Promise<unknown>,
          TypeError,
          'has ended',
        )
        expect(await notes()).to.deep.equal(['a'])
      }))

    it('keep writes before and after a failed statement that was caught', () =>
      inAcme(async () => {
        const done: string[] = []
        await holder.subject.specimens.transaction(async (context) => {
          const { manager, sql, afterCommit } = context as TransactionContext
          afterCommit(() => done.push('committed'))
          await make('a')
          await manager.save(note('before'))
          await rejection(manager.query('SELECT nothing FROM nowhere'), Error)
          await rejection(manager.insert(Note, note('before')), ErrConflict)
          await make('b')
          await manager.save(note('after'))
          // The last one before COMMIT fails.
          await rejection(sql`INSERT INTO notes (name) VALUES (${'before'})` as Promise<unknown>, Error)
        })
        expect([await ids(), await notes(), done]).to.deep.equal([
          ['a', 'b'],
          ['after', 'before'],
          ['committed'],
        ])
      }))

    it('save 64-bit integers as they are declared, new and changed', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const [big, huge, span] = [2n ** 63n - 2n, 2n ** 63n - 3n, 2n ** 53n + 1n]
        await specimens.create(draft({ id: 'a', big, huge, span }))
        await specimens.transaction(async (context) => {
          const { manager } = context as TransactionContext
          const found = await manager.findOneByOrFail(Specimen, { id: 'a' })
          // What is unique about it goes with it.
          await manager.delete(Specimen, { id: 'a' })
          const copy = await manager.save(manager.create(Specimen, { ...found, id: 'b' }))
          const saved = await manager.findOneByOrFail(Specimen, { id: 'b' })
          expect([saved.big, saved.huge, saved.span]).to.deep.equal([big, huge, span])
          await manager.save(Object.assign(copy, { big: big + 1n, huge: huge + 1n, span: -span }))
        })
        const changed = await specimens.get('b')
        expect([changed.big, changed.huge, changed.span]).to.deep.equal([big + 1n, huge + 1n, -span])
      }))

    it('read and write 64-bit integers as they are declared', () => {
      return inAcme(async () => {
        const { specimens } = holder.subject
        const [big, huge, span] = [-(2n ** 63n) + 1n, 2n ** 63n - 1n, 2n ** 53n + 1n]
        const created = await specimens.create(draft({ id: 'a', big, huge, span, weight: 4_000_000_000 }))
        await specimens.transaction(async (context) => {
          const { manager } = context as TransactionContext
          const found = await manager.findOneByOrFail(Specimen, { id: 'a' })
          expect([found.big, found.huge, found.span, found.weight]).to.deep.equal([
            ...[big, huge, span],
            created.weight,
          ])
          await manager.update(Specimen, { id: 'a' }, { big: big + 1n, huge: huge - 1n, span: span + 1n })
          expect(await manager.countBy(Specimen, { big: big + 1n })).to.equal(1)
        })
        const changed = await specimens.get('a')
        expect([changed.big, changed.huge, changed.span]).to.deep.equal([big + 1n, huge - 1n, span + 1n])
      })
    })
  })
}
