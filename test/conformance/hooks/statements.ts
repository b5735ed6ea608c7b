import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { everyStatementMayFail } from '../../support/databases/every-statement-may-fail.js'
import { doing, type Task } from '../../support/entities/hooked.js'
import { inAcme } from '../repository/subject.js'
import { casesOf, type HookedHolder, quiet } from './hooked-subject.js'

/** Every write with hooks, with every statement of it and of its hooks failing once. */
export const statements = (holder: HookedHolder, dataSource: () => DataSource): void => {
  const { make } = casesOf(holder)
  const snapshot = () =>
    inAcme(async () => [
      (await holder.subject.tasks.list({ showDeleted: true })).items,
      (await holder.subject.entries.list()).items,
    ])

  describe('every statement of a write and its hooks may fail', () => {
    const item = (key: string) => ({ key, entity: { title: 'changed' }, fieldMask: ['title'] }) as const
    const operations: Record<string, () => Promise<unknown>> = {
      create: () => make('new'),
      update: () => holder.subject.tasks.update('a', { title: 'changed' }, ['title']),
      delete: () => holder.subject.tasks.delete('a'),
      undelete: () => holder.subject.tasks.undelete('gone'),
      batchUpdate: () => holder.subject.tasks.batchUpdate([item('b'), item('a')]),
      batchDelete: () => holder.subject.tasks.batchDelete(['a', 'b']),
      remint: () => holder.subject.tasks.remintToken('a'),
    }
    for (const [name, operation] of Object.entries(operations))
      it(`completes ${name} or leaves nothing`, async () => {
        let before: unknown
        const log = (when: string) => async (task: Task) => {
          if (when === 'before') task.slug = `${name} of ${task.id}`
          await holder.subject.entries.create({ id: `${when}-${task.id}`, text: name })
        }
        const prepare = async () => {
          quiet()
          await holder.subject.clear()
          for (const id of ['a', 'b', 'gone']) await make(id)
          await inAcme(() => holder.subject.tasks.delete('gone'))
          before = await snapshot()
          for (const event of ['Insert', 'Update', 'SoftRemove', 'Recover'] as const) {
            doing[`Before${event}`] = log('before')
            doing[`After${event}`] = log('after')
          }
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
        expect(sent).to.be.greaterThan(4)
      })
  })
}
