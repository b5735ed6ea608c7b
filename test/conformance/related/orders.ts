import { expect } from 'chai'
import { InvalidArgument } from '../../../lib/errors.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import { rejection } from '../../support/rejection.js'
import { inAcme, type PlansHolder } from './plans.js'
import { ALL, ids, listed as listedIn, makePlans } from './through.js'

/** What orders and their page tokens do with what is found through relations. */
export const orders = (holder: PlansHolder): void => {
  const make = () => makePlans(holder)
  const listed = (text: string, through = ALL, orderBy = '') => listedIn(holder, text, through, orderBy)

  describe('an order through a relation', () => {
    beforeEach(() => inAcme(make))

    const pages = async (orderBy: string, text = '') => {
      const { tasks } = holder.plans
      const found: string[] = []
      for (let pageToken = ''; ;) {
        const page = await tasks.list({ orderBy, filter: text, pageSize: 1, pageToken }, { through: ALL })
        found.push(...page.items.map(({ id }) => id))
        if (page.nextPageToken === '' || found.length > 20) return found.join(' ')
        pageToken = page.nextPageToken
      }
    }

    for (const [orderBy, expected] of [
      ['project.title', 't1 t2 t3 t4'],
      ['project.title desc', 't4 t3 t2 t1'],
      ['project.title, title desc', 't2 t1 t3 t4'],
      ['project.title desc, title', 't4 t3 t1 t2'],
      ['project.budget desc', 't4 t2 t1 t3'],
      ['project.phase, id', 't1 t2 t3 t4'],
      ['project.note', 't3 t1 t2 t4'],
      ['project.note desc', 't4 t2 t1 t3'],
      ['project.due_time desc, title', 't4 t3 t1 t2'],
      ['project.owner.title desc, project.id, id', 't4 t3 t1 t2'],
      ['project.id desc, lead.id', 't4 t3 t1 t2'],
      ['after.project.title desc, after.title', 't1 t3 t4 t2'],
    ] as const)
      it(`${orderBy}, on one page and on many`, () =>
        inAcme(async () => {
          const { projects } = holder.plans
          await projects.update('p1', { dueTime: new Date(Date.UTC(2020, 0, 1)) }, ['due_time'])
          await projects.update('p2', { dueTime: new Date(Date.UTC(2021, 0, 1)) }, ['due_time'])
          expect(await listed('', ALL, orderBy)).to.equal(expected)
          expect(await pages(orderBy)).to.equal(expected)
          expect(await pages(orderBy, 'project:* OR steps:* OR id = "t4"')).to.equal(expected)
        }))

    it('continues at the same place after the resource is renamed, deleted or excluded', () =>
      inAcme(async () => {
        const { projects, tasks } = holder.plans
        const first = await tasks.list({ orderBy: 'project.title', pageSize: 2 }, { through: ALL })
        expect(ids(first.items)).to.equal('t1 t2')
        await projects.update('p1', { title: 'A' }, ['title'])
        const list = { orderBy: 'project.title', pageToken: first.nextPageToken }
        expect(ids((await tasks.list(list, { through: ALL })).items)).to.equal('t3 t4')
        const none = { relation: 'project', where: filter`phase = ACTIVE` }
        expect(ids((await tasks.list(list, { through: [none] })).items)).to.equal('t3 t4')
      }))

    it('cuts long texts in the token, and orders by their beginning', () =>
      inAcme(async () => {
        const { projects } = holder.plans
        await projects.update('p1', { note: `${'é'.repeat(600)}b` }, ['note'])
        await projects.update('p2', { note: `${'é'.repeat(600)}a` }, ['note'])
        expect(await pages('project.note')).to.equal('t1 t2 t3 t4')
        const page = await holder.plans.tasks.list({ orderBy: 'project.note', pageSize: 1 }, { through: ALL })
        expect(page.nextPageToken.length).to.be.below(3000)
      }))

    it('rejects the token of another filter, sort order or relation', () =>
      inAcme(async () => {
        const { tasks } = holder.plans
        const { nextPageToken: pageToken } = await tasks.list(
          { orderBy: 'project.title', pageSize: 1 },
          { through: ALL },
        )
        for (const list of [
          { orderBy: 'lead.title' },
          { orderBy: 'title' },
          { orderBy: 'project.title', filter: 'project:*' },
        ])
          expect(
            (await rejection(tasks.list({ ...list, pageToken }, { through: ALL }), InvalidArgument)).message,
          ).to.match(/^page_token/)
      }))

    it('is rejected for a to-many relation, and if through excludes the relation', () =>
      inAcme(async () => {
        const { tasks } = holder.plans
        for (const [orderBy, why] of [
          ['steps.title', /^order_by: "steps.title" has no sort order: it can have several values/],
          ['project.labels', /"project.labels" has no sort order/],
          ['project.etag', /field "project.etag" cannot be sorted by/],
          ['project', /unknown field "project"/],
          ['lead.nothing', /unknown field "lead.nothing"/],
          ['project.title, project.title', /named twice/],
        ] as const)
          expect(
            (await rejection(tasks.list({ orderBy }, { through: ALL }), InvalidArgument)).message,
          ).to.match(why)
        for (const name of ['project', 'nothing'])
          expect(
            (
              await rejection(
                tasks.list({ orderBy: `${name}.title` }, { through: ['lead'] }),
                InvalidArgument,
              )
            ).message,
          ).to.match(new RegExp(`unknown field "${name}.title" at position 1`))
      }))
  })
}
