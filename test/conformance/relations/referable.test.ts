import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import { ErrConflict, ErrNotFound, InvalidArgument } from '../../../lib/errors.js'
import type {
  ReferenceAccess,
  ReferredRow,
  RowLimits,
} from '../../../lib/persistence/contract/related-options.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import { backends, coalesced, describeOn, distributed } from '../../support/databases/backends.js'
import { rejection } from '../../support/rejection.js'
import type { Project } from './projects.js'
import { openRelations, type RelationSubject } from './relation-subject.js'

const asAcme = <T>(fn: () => Promise<T>): Promise<T> =>
  RequestContext.as({ tenant: 'acme', subject: 'ada' }, fn)

/** Projects are whoever's their title says; ada sees hers. */
const FORMS: Readonly<Record<string, (row: ReferredRow) => RowLimits>> = {
  where: () => ({ isNone: false, where: filter`title = "ada" OR title = "all"` }),
  code: () => ({
    isNone: false,
    test: (project) => ['ada', 'all'].includes((project as Project).title ?? ''),
  }),
  'both of them': () => ({
    ...{ isNone: false, where: filter`title != "bob"` },
    test: async (project) => Promise.resolve((project as Project).title !== 'carl'),
  }),
  'none where it is not hers': ({ values }) => ({ isNone: !['hers', 'shared'].includes(values['id'] ?? '') }),
}

describeOn('what a caller may refer to', [...backends, ...coalesced, ...distributed], (backend) => {
  let at: RelationSubject
  let asked: ReferredRow[] = []
  before(async () => {
    at = await openRelations(backend)
  })
  after(() => at?.close())
  beforeEach(async () => {
    asked = []
    await at.clear()
    await asAcme(async () => {
      for (const [id, title] of [
        ['hers', 'ada'],
        ['shared', 'all'],
        ['theirs', 'bob'],
        ['others', 'carl'],
      ] as const)
        await at.projects.create({ id, title })
      await at.tasks.create({ id: 'kept', projectId: 'hers' })
      await at.tasks.create({ id: 'second', projectId: 'hers' })
    })
  })

  /** Of projects; everything may be referred to of the rest. */
  const references = (limits: (row: ReferredRow) => RowLimits): ReferenceAccess => ({
    refer: (row) => {
      asked.push(row)
      return row.target.entity.name === 'Project' ? limits(row) : { isNone: false }
    },
  })
  const refused = async (write: Promise<unknown>) => {
    const error = await rejection(write, InvalidArgument)
    expect(error).to.include({ field: 'project_id', message: 'project_id: there is no such project' })
  }
  const projectOf = async (id: string) => (await at.tasks.get(id)).projectId

  for (const [form, limits] of Object.entries(FORMS))
    describe(`said by ${form}`, () => {
      const options = { references: references(limits) }

      for (const key of ['theirs', 'others', 'missing'])
        it(`is not ${key}, in any write, and nothing is written`, () =>
          asAcme(async () => {
            await refused(at.tasks.create({ id: 'new', projectId: key }, options))
            await refused(at.tasks.create({ id: 'new', project: { id: key } } as never, options))
            await refused(at.tasks.create({ id: 'kept', projectId: key }, options))
            const whole = { id: 'kept', projectId: key } as never
            await refused(at.tasks.update('kept', { projectId: key }, ['project_id'], options))
            await refused(at.tasks.update('kept', { project: { id: key } } as never, ['project'], options))
            await refused(at.tasks.update('kept', whole, undefined, options))
            await refused(at.tasks.modify('kept', () => ({ projectId: key }), options))
            const items = ['shared', key].map((projectId, i) => ({
              ...{ key: i === 0 ? 'kept' : 'second', entity: { projectId } },
              fieldMask: ['project_id'],
            }))
            await refused(at.tasks.batchUpdate(items, options))
            await refused(at.charters.create({ project: { id: key } } as never, options))
            expect([await projectOf('kept'), await projectOf('second')]).to.deep.equal(['hers', 'hers'])
            await rejection(at.tasks.get('new'), ErrNotFound)
          }))

      it('is hers and what is shared', () =>
        asAcme(async () => {
          await at.tasks.create({ id: 'new', projectId: 'shared' }, options)
          await rejection(at.tasks.create({ id: 'new', projectId: 'shared' }, options), ErrConflict)
          await at.tasks.update('new', { projectId: 'hers' }, ['project_id'], options)
          await at.tasks.update('kept', { projectId: 'shared' }, ['project_id'], options)
          await at.tasks.modify('second', () => ({ projectId: 'shared' }), options)
          await at.tasks.batchUpdate(
            ['kept', 'second'].map((key) => ({
              ...{ key, entity: { projectId: 'hers', title: key }, fieldMask: ['project_id', 'title'] },
            })),
            options,
          )
          expect(await at.tasks.get('second')).to.include({ projectId: 'hers', title: 'second' })
          await at.charters.create({ id: 'a', project: { id: 'hers' } } as never, options)
        }))

      it('is compared as the row is when it is referred to', async () => {
        let made: Promise<unknown> | undefined
        await asAcme(() =>
          at.projects.transaction(async (context) => {
            await at.projects.update('shared', { title: 'bob' }, ['title'], { context })
            made = RequestContext.detached(() =>
              asAcme(() => at.tasks.create({ id: 'late', projectId: 'shared' }, options)),
            )
            made.catch(() => {})
          }),
        )
        // By its key alone, it is still hers.
        if (form.startsWith('none')) await made
        else await refused(made as Promise<unknown>)
      })

      it('is as much within a transaction, which goes on', () =>
        asAcme(async () => {
          await at.tasks.transaction(async () => {
            await at.projects.update('theirs', { title: 'ada' }, ['title'])
            if (!form.startsWith('none')) await at.tasks.create({ id: 'new', projectId: 'theirs' }, options)
            await refused(at.tasks.create({ projectId: 'others' }, options))
            await at.tasks.update('kept', { projectId: 'shared' }, ['project_id'], options)
          })
          expect(await projectOf('kept')).to.equal('shared')
        }))
    })

  it('is decided once for each named row, and not if no reference is written', () =>
    asAcme(async () => {
      const options = { references: references(() => ({ isNone: false })) }
      await at.tasks.update('kept', { title: 'x' }, ['title'], options)
      await at.tasks.update('kept', { projectId: 'hers' }, ['title'], options)
      expect(asked).to.deep.equal([])
      await at.tasks.create({ id: 'new', projectId: 'hers', after: { id: 'kept' } } as never, options)
      const named = asked.map(({ target, field, values }) => [target.entity.name, field, values])
      expect(named).to.have.deep.members([
        ['Project', 'project_id', { id: 'hers' }],
        ['Task', 'after_id', { id: 'kept' }],
      ])
      asked = []
      const keys = ['shared', 'shared']
      await at.tasks.batchUpdate(
        keys.map((projectId, i) => ({
          ...{ key: i === 0 ? 'kept' : 'second', entity: { projectId }, fieldMask: ['project_id'] },
        })),
        options,
      )
      expect(asked).to.have.length(1)
    }))

  it('reveals nothing about the written entity or its other references', () =>
    asAcme(async () => {
      const options = { references: references(FORMS['code'] as never) }
      await rejection(
        at.tasks.update('nosuch', { projectId: 'theirs' }, ['project_id'], options),
        ErrNotFound,
      )
      const both = (id: string) => ({ projectId: 'theirs', after: { id } }) as never
      for (const id of ['kept', 'nosuch']) {
        const [hidden, missing] = await Promise.all(
          ['theirs', 'missing'].map((projectId) =>
            rejection(
              at.tasks.create({ ...(both(id) as object), projectId } as never, options),
              InvalidArgument,
            ),
          ),
        )
        expect(hidden?.message).to.equal(missing?.message)
      }
    }))

  it('is unrestricted by default', () =>
    asAcme(async () => {
      await at.tasks.create({ id: 'new', projectId: 'theirs' })
      expect(await projectOf('new')).to.equal('theirs')
    }))
})
