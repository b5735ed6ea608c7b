import { expect } from 'chai'
import { type CallFailure, RequestContext } from '../../../../lib/context.js'
import { draft, type Holder, inAcme, rejection } from '../subject.js'
import { casesOf, Stop } from './cases.js'

/** The rejections that nobody has handled while it ran. */
const unhandledIn = async (fn: () => Promise<unknown>): Promise<readonly unknown[]> => {
  const unhandled: unknown[] = []
  const listeners = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection')
  process.on('unhandledRejection', (error) => unhandled.push(error))
  try {
    await fn()
    // A call may be slow to fail.
    await new Promise((resolve) => setTimeout(resolve, 20))
  } finally {
    process.removeAllListeners('unhandledRejection')
    for (const listener of listeners) process.on('unhandledRejection', listener)
  }
  return unhandled
}

/** Calls that a transaction does not wait for, or cannot. */
export const unawaited = (holder: Holder): void => {
  const { ids, make } = casesOf(holder)

  describe('a transaction whose function returns before its calls are through', () => {
    it('rolls back and names them', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const loose: Promise<unknown>[] = []
        const failing = specimens.transaction(async () => {
          await make('a')
          loose.push(make('b'), specimens.update('a', { title: 'changed' }, ['title']))
        })
        const { message } = await rejection(failing, TypeError, 'did not await')
        expect(message).to.include('Specimen.create, Specimen.update')
        await Promise.allSettled(loose)
        expect(await ids()).to.deep.equal([])
      }))

    it('has heard the rejections of those that nobody awaits', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const unhandled = await unhandledIn(async () => {
          await make('a')
          const failing = specimens.transaction(() => {
            void make('b', 'a')
            void specimens.get('none')
            void specimens.batchGet(['none'])
            void specimens.verifyApiKey('none')
            void specimens.transaction(() => Promise.reject(new Stop()))
            return Promise.resolve()
          })
          await rejection(failing, TypeError, 'Specimen.create, Specimen.get, Specimen.batchGet')
        })
        expect(unhandled).to.deep.equal([])
        expect(await ids()).to.deep.equal(['a'])
      }))

    it('rolls back and names those that the application overrides, whatever they do first, and has heard their rejections', () =>
      inAcme(async () => {
        const specimens = holder.subject.overridden()
        const all = async () => (await specimens.list()).items.map(({ id }) => id)
        await specimens.create(draft({ id: 'a', code: 'a' }))
        const loose = [
          ['Specimen.create', () => specimens.create(draft({ id: 'b', code: 'a' }))],
          ['Specimen.create', () => specimens.create(draft({ id: 'b', code: 'b' }))],
          ['Specimen.get', () => specimens.get('a')],
          ['Specimen.get', () => specimens.get('none')],
          ['Specimen.get', () => specimens.get('none', { context: RequestContext.current() })],
          ['a transaction', () => specimens.modify('none', () => ({ title: 'b' }))],
        ] as const
        const unhandled = await unhandledIn(async () => {
          for (const [name, call] of loose) {
            const failing = specimens.transaction(async () => {
              await specimens.create(draft({ id: 'c', code: 'c' }))
              expect((await specimens.get('a')).id).to.equal('a')
              void call()
            })
            const { message } = await rejection(failing, TypeError, 'did not await')
            expect(message).to.include(name)
            expect(await all()).to.deep.equal(['a', 'a 2'])
          }
        })
        expect(unhandled).to.deep.equal([])
      }))

    it('names a transaction inside', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const failing = specimens.transaction(() => {
          void specimens.transaction(() => make('a'))
          return Promise.resolve()
        })
        await rejection(failing, TypeError, 'did not await a transaction')
        expect(await ids()).to.deep.equal([])
      }))

    it('rejects what comes later, and logs it', () =>
      inAcme(async () => {
        const failures: CallFailure[] = []
        const context = RequestContext.current().with({ onFailure: (failure) => failures.push(failure) })
        let later: Promise<unknown> = Promise.resolve()
        let go: () => void = () => {}
        await holder.subject.specimens.transaction(
          async () => {
            await make('a')
            later = new Promise<void>((resolve) => (go = resolve)).then(() => make('b'))
          },
          { context },
        )
        go()
        await rejection(later, TypeError, 'has ended')
        expect(failures.map(({ message }) => message)).to.deep.equal([
          'a call was made after its transaction had ended',
        ])
        expect(await ids()).to.deep.equal(['a'])
      }))
  })
}
