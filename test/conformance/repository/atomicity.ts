import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { increment } from '../../../lib/resource/values/increment.js'
import { everyStatementMayFail } from '../../support/databases/every-statement-may-fail.js'
import { clock, draft, type Holder, inAcme } from './subject.js'

/** Every operation that writes, with every statement of it failing once: all of it happened, or nothing. */
export const atomicity = (holder: Holder, dataSource: () => DataSource): void => {
  const snapshot = () =>
    inAcme(async () => (await holder.subject.specimens.list({ showDeleted: true })).items)

  describe('every statement may fail', () => {
    const item = (key: string) => ({ key, entity: { title: 'changed' }, fieldMask: ['title'] }) as const
    const operations: Record<string, () => Promise<unknown>> = {
      create: () => holder.subject.specimens.create(draft({ id: 'new' })),
      update: () => holder.subject.specimens.update('a', { title: 'changed' }, ['title']),
      modify: () => holder.subject.specimens.modify('a', ({ count }) => ({ count: count + 1 })),
      increment: () => holder.subject.specimens.update('a', { count: increment(1) }, ['count']),
      'increments of a batch': () =>
        holder.subject.specimens.batchUpdate(
          ['c', 'a', 'b'].map((key) => ({ key, entity: { count: increment(1) }, fieldMask: ['count'] })),
        ),
      delete: () => holder.subject.specimens.delete('a'),
      undelete: () => holder.subject.specimens.undelete('gone'),
      batchUpdate: () => holder.subject.specimens.batchUpdate([item('c'), item('a'), item('b')]),
      batchDelete: () => holder.subject.specimens.batchDelete(['a', 'b', 'c']),
      remint: () => holder.subject.specimens.remintApiKey('a'),
      purgeExpired: () => holder.subject.specimens.purgeExpired(new Date(8.64e15)),
      transaction: () =>
        holder.subject.specimens.transaction(async () => {
          await holder.subject.specimens.create(draft({ id: 'new' }))
          await holder.subject.specimens.delete('a')
          await holder.subject.specimens.batchDelete(['b', 'c'])
        }),
    }
    for (const [name, operation] of Object.entries(operations))
      it(`completes ${name} or leaves nothing`, async () => {
        let before: unknown
        const prepare = async () => {
          await holder.subject.clear()
          await inAcme(async () => {
            for (const id of ['a', 'b', 'c', 'gone'])
              await holder.subject.specimens.create(draft({ id, expireTime: new Date(clock.now) }))
            await holder.subject.specimens.delete('gone')
          })
          before = await snapshot()
        }
        const sent = await everyStatementMayFail(
          dataSource(),
          prepare,
          () => inAcme(operation),
          async (outcome) => {
            const after = await snapshot()
            if (outcome === 'succeeded') return void expect(after).to.not.deep.equal(before)
            expect(after).to.deep.equal(before)
            return 'prepared'
          },
        )
        expect(sent).to.be.greaterThan(0)
      })
  })
}
