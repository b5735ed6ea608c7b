import { expect } from 'chai'
import { Aborted, ErrConflict } from '../../../../lib/errors.js'
import type { BackendName } from '../../../support/databases/backends.js'
import { drill } from '../../../support/drill.js'
import { draft, type Holder, inAcme, rejection } from '../subject.js'

/** In these a transaction that writes is alone, so that nothing is locked. */
const WITHOUT_ROW_LOCKS: readonly BackendName[] = ['memory', 'sqlite', 'better-sqlite3']

/** Reads that lock the rows they read. */
export const locks = (holder: Holder, backend: BackendName): void => {
  const specimens = () => holder.subject.specimens
  const make = (...ids: readonly string[]) =>
    inAcme(async () => {
      for (const id of ids) await specimens().create(draft({ id, code: id, count: 1 }))
    })
  const idsOf = ({ items }: { readonly items: readonly { readonly id: string }[] }) =>
    items.map(({ id }) => id)

  describe('row locks', () => {
    beforeEach(() => make('a', 'b', 'c'))

    it('are rejected outside of a transaction', () =>
      inAcme(async () => {
        for (const read of [
          specimens().get('a', { lock: 'update' }),
          specimens().batchGet(['a'], { lock: 'share' }),
          specimens().list({}, { lock: 'update', wait: 'skip' }),
        ])
          await rejection(read, TypeError, /outside a transaction/)
      }))

    it('are rejected in a read-only transaction', () =>
      inAcme(() =>
        specimens().transaction(
          async () => {
            await rejection(specimens().get('a', { lock: 'share' }), TypeError, /readOnly/)
          },
          { readOnly: true },
        ),
      ))

    it('are rejected with an unknown mode', () =>
      inAcme(() =>
        specimens().transaction(async () => {
          await rejection(specimens().get('a', { wait: 'nowait' }), TypeError, /without lock/)
          await rejection(
            specimens().get('a', { lock: 'UPDATE' as 'update' }),
            TypeError,
            /'update' or 'share'/,
          )
          await rejection(specimens().get('a', { lock: 'update', wait: '' as 'block' }), TypeError, /wait/)
        }),
      ))

    it('skip locked rows only in lists', () =>
      inAcme(() =>
        specimens().transaction(async () => {
          const skip = { lock: 'update', wait: 'skip' } as const
          // @ts-expect-error -- nothing is left of an entity that is left out
          await rejection(specimens().get('a', skip), TypeError, /only a list/)
          // @ts-expect-error -- as many entities as keys
          await rejection(specimens().batchGet(['a'], skip), TypeError, /only a list/)
          expect(idsOf(await specimens().list({}, skip))).to.deep.equal(['a', 'b', 'c'])
        }),
      ))

    it('do not change what is read', () =>
      inAcme(() =>
        specimens().transaction(async () => {
          for (const lock of ['update', 'share'] as const) {
            expect((await specimens().get('a', { lock })).id).to.equal('a')
            const batch = await specimens().batchGet(['c', 'a', 'c'], { lock })
            expect(batch.map(({ id }) => id)).to.deep.equal(['c', 'a', 'c'])
            expect(idsOf(await specimens().list({ filter: 'id != "b"' }, { lock }))).to.deep.equal(['a', 'c'])
          }
        }),
      ))

    it('allow a locked list to continue page by page', () =>
      inAcme(() =>
        specimens().transaction(async () => {
          const walked: string[] = []
          for (let pageToken: string | undefined; pageToken !== '';) {
            const list = { pageSize: 2, ...(pageToken !== undefined && { pageToken }) }
            const page = await specimens().list(list, { lock: 'update' })
            walked.push(...idsOf(page))
            pageToken = page.nextPageToken
          }
          expect(walked).to.deep.equal(['a', 'b', 'c'])
        }),
      ))
  })

  if (WITHOUT_ROW_LOCKS.includes(backend)) return

  describe('row locks between transactions', () => {
    beforeEach(() => make('a', 'b', 'c'))

    /** Holds what `take` locks until `release`, in a transaction of its own. */
    const hold = async (
      take: () => Promise<unknown>,
      write: () => Promise<unknown> = () => Promise.resolve(),
    ) => {
      let go: () => void = () => {}
      let done: Promise<unknown> = Promise.resolve()
      await new Promise<void>((taken, failed) => {
        done = inAcme(() =>
          specimens().transaction(async () => {
            await take()
            await new Promise<void>((leave) => {
              go = leave
              taken()
            })
            await write()
          }),
        )
        done.catch(failed)
      })
      return { release: () => (go(), done) }
    }
    const inside = <T>(fn: () => Promise<T>, maxAttempts = 1) =>
      inAcme(() => specimens().transaction(fn, { maxAttempts }))
    const LOCKED = /locked a row: run the whole transaction again/

    it('make other transactions wait, which then read what was written', async () => {
      const { release } = await hold(
        () => specimens().get('a', { lock: 'update' }),
        () => specimens().update('a', { count: 2 }, ['count']),
      )
      const waiter = inside(async () => (await specimens().get('a', { lock: 'update' })).count)
      await release()
      expect(await waiter).to.equal(2)
    })

    for (const [operation, take] of [
      ['get', () => specimens().get('a', { lock: 'update' })],
      ['batchGet', () => specimens().batchGet(['b', 'a'], { lock: 'update' })],
      ['list', () => specimens().list({ filter: 'id = "a"' }, { lock: 'update' })],
    ] as const)
      it(`abort at once with noWait in ${operation}`, async () => {
        const { release } = await hold(take)
        const nowait = { lock: 'update', wait: 'nowait' } as const
        await rejection(
          inside(() => specimens().get('a', nowait)),
          Aborted,
          LOCKED,
        )
        await rejection(
          inside(() => specimens().batchGet(['c', 'a'], nowait)),
          Aborted,
          LOCKED,
        )
        await rejection(
          inside(() => specimens().list({}, nowait)),
          Aborted,
          LOCKED,
        )
        await release()
        await inside(() => specimens().get('a', nowait))
      })

    it('allow several shared locks, and not a shared and an exclusive one', async () => {
      const { release } = await hold(() => specimens().get('a', { lock: 'share' }))
      await inside(() => specimens().get('a', { lock: 'share' }))
      const writer = inside(() => specimens().get('a', { lock: 'update', wait: 'nowait' }))
      await rejection(writer, Aborted, LOCKED)
      await release()
    })

    // What stands for MySQL 8 is MariaDB, which does not know FOR SHARE.
    if (backend !== 'mysql8')
      it('abort at once with noWait for shared locks too', async () => {
        const { release } = await hold(() => specimens().get('a', { lock: 'update' }))
        await rejection(
          inside(() => specimens().get('a', { lock: 'share', wait: 'nowait' })),
          Aborted,
          LOCKED,
        )
        const rest = await inside(() => specimens().list({}, { lock: 'share', wait: 'skip' }))
        expect(idsOf(rest)).to.deep.equal(['b', 'c'])
        await release()
      })

    it('of a list lock only its page, so that others lock the next rows', async () => {
      const next = () => specimens().list({ pageSize: 1 }, { lock: 'update', wait: 'skip' })
      const first = await hold(async () => expect(idsOf(await next())).to.deep.equal(['a']))
      const second = await hold(async () => expect(idsOf(await next())).to.deep.equal(['b']))
      expect(idsOf(await inside(next))).to.deep.equal(['c'])
      await Promise.all([first.release(), second.release()])
      expect(idsOf(await inside(next))).to.deep.equal(['a'])
    })

    it('are held after a later operation fails', async () => {
      const { release } = await hold(async () => {
        await specimens().get('a', { lock: 'update' })
        await rejection(specimens().create(draft({ id: 'd', code: 'b' })), ErrConflict)
      })
      await rejection(
        inside(() => specimens().get('a', { lock: 'update', wait: 'nowait' })),
        Aborted,
        LOCKED,
      )
      await release()
    })

    it('make a retried transaction wait', async () => {
      const { release } = await hold(() => specimens().get('a', { lock: 'update' }))
      let attempts = 0
      await inside(async () => {
        if (++attempts === 2) await release()
        await specimens().get('a', { lock: 'update', wait: 'nowait' })
      }, 2)
      expect(attempts).to.equal(2)
    })

    it('of batches are acquired in key order, so that no deadlock occurs', async () => {
      const take = (keys: readonly string[]) =>
        inside(async () => {
          await specimens().batchGet(keys, { lock: 'update' })
          await specimens().batchUpdate(
            keys.map((key) => ({ key, entity: { count: 3 }, fieldMask: ['count'] })),
          )
        })
      for (let round = 0; round < drill(10, 500); round++)
        await Promise.all([take(['a', 'b', 'c']), take(['c', 'b', 'a']), take(['b', 'a', 'c'])])
    })
  })
}
