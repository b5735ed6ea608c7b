import { expect } from 'chai'
import { type CallFailure, RequestContext } from '../../../../lib/context.js'
import { type Holder, inAcme, rejection } from '../subject.js'
import { casesOf, Stop } from './cases.js'

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
        const unhandled: unknown[] = []
        const listeners = process.listeners('unhandledRejection')
        process.removeAllListeners('unhandledRejection')
        process.on('unhandledRejection', (error) => unhandled.push(error))
        try {
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
          await new Promise((resolve) => setImmediate(resolve))
        } finally {
          process.removeAllListeners('unhandledRejection')
          for (const listener of listeners) process.on('unhandledRejection', listener)
        }
        expect(unhandled).to.deep.equal([])
        expect(await ids()).to.deep.equal(['a'])
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
          'a call came after its transaction had ended',
        ])
        expect(await ids()).to.deep.equal(['a'])
      }))
  })
}
