import { EventEmitter } from 'node:events'
import { expect } from 'chai'
import { RequestContext } from '../../../../lib/context.js'
import { MemoryDatabase } from '../../../../lib/persistence/memory/memory-database.js'
import { ErrConflict } from '../../../../lib/errors.js'
import { draft, type Holder, inAcme, rejection } from '../subject.js'
import { casesOf, Stop } from './cases.js'

/** Which calls join a transaction. */
export const joins = (holder: Holder): void => {
  const { ids, make } = casesOf(holder)

  describe('a transaction is joined by a call inside of it', () => {
    const stays = async (work: (context: RequestContext) => Promise<unknown>) => {
      const { specimens } = holder.subject
      const failing = specimens.transaction(async (context) => {
        await work(context)
        throw new Stop()
      })
      await rejection(failing, Stop)
      return ids()
    }

    it('that receives the earlier context', () =>
      inAcme(async () => {
        const context = RequestContext.current()
        expect(
          await stays(() => holder.subject.specimens.create(draft({ id: 'a' }), { context })),
        ).to.deep.equal([])
      }))

    it('that the application overrides, whose own transaction is a savepoint', () =>
      inAcme(async () => {
        const specimens = holder.subject.overridden()
        const all = async () => (await specimens.list()).items.map(({ id }) => id)
        const context = RequestContext.current()
        const write = (end: () => void) =>
          specimens.transaction(async (inside) => {
            await specimens.create(draft({ id: 'a', code: 'a' }))
            await specimens.create(draft({ id: 'b', code: 'b' }), { context })
            await specimens.create(draft({ id: 'c', code: 'c' }), { context: inside })
            await specimens.create(draft({ id: 'd 2', code: 'd 2' }))
            // The second one of the pair conflicts, which takes back the first.
            await rejection(specimens.create(draft({ id: 'd', code: 'd' })), ErrConflict)
            end()
          })
        const failing = write(() => {
          throw new Stop()
        })
        await rejection(failing, Stop)
        expect(await all()).to.deep.equal([])
        await write(() => {})
        expect(await all()).to.deep.equal([...['a', 'a 2', 'b', 'b 2', 'c', 'c 2'], ...['d 2', 'd 2 2']])
      }))

    it('that runs as the system, or as another principal of the call', () =>
      inAcme(async () => {
        const left = await stays(async () => {
          await RequestContext.asSystem({ tenant: 'acme', reason: 'a test' }, () => make('a'))
          await RequestContext.as({ subject: 'bob', tenant: 'acme' }, () => make('b'))
        })
        expect(left).to.deep.equal([])
      }))

    it('in a timer, an event emitter, and a generator created and read inside', () =>
      inAcme(async () => {
        const left = await stays(async () => {
          await new Promise((resolve, reject) => setTimeout(() => void make('a').then(resolve, reject), 1))
          const emitter = new EventEmitter()
          let heard: Promise<unknown> = Promise.resolve()
          emitter.on('made', () => void (heard = make('b')))
          emitter.emit('made')
          await heard
          const each = async function* () {
            yield await make('c')
            yield await make('d')
          }
          for await (const specimen of each()) expect(specimen.id).to.be.a('string')
        })
        expect(left).to.deep.equal([])
      }))

    it('that receives a context of its own transaction, inside two transactions of other databases', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const [second, third] = [new MemoryDatabase(), new MemoryDatabase()]
        const left = await stays((context) =>
          RequestContext.detached(() =>
            second.transaction(() =>
              third.transaction(
                async (inside) => {
                  await specimens.create(draft({ id: 'a' }), { context: inside })
                  await make('b')
                },
                { context },
              ),
            ),
          ),
        )
        expect(left).to.deep.equal([])
      }))

    it('unless it is detached', () =>
      inAcme(async () => {
        let beside: Promise<unknown> = Promise.resolve()
        const left = await stays(async () => {
          await make('a')
          // On SQLite and in memory it waits for the transaction to end.
          beside = RequestContext.detached(() => make('b'))
        })
        expect(left).to.not.include('a')
        await beside
        expect(await ids()).to.deep.equal(['b'])
      }))

    it('but not with the context of another call', () =>
      inAcme(async () => {
        const { principal } = RequestContext.current()
        const context = new RequestContext({ principal })
        await holder.subject.specimens.transaction(async () => {
          await rejection(
            holder.subject.specimens.create(draft({ id: 'a' }), { context }),
            TypeError,
            'belongs to another call',
          )
          await make('b')
        })
        expect(await ids()).to.deep.equal(['b'])
      }))
  })
}
