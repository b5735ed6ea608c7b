import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import { InvalidArgument, PermissionDenied } from '../../../lib/errors.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import { rejection } from '../../support/rejection.js'
import { aPerson, aProject, as, aStep, aTask, inAcme, type PlansHolder } from './plans.js'
import { ALL, ids, listed as listedIn, makePlans } from './through.js'

/** What filters find through relations, and what they never find. */
export const filters = (holder: PlansHolder): void => {
  const make = () => makePlans(holder)
  const listed = (text: string, through = ALL) => listedIn(holder, text, through)

  describe('a filter through a relation', () => {
    beforeEach(() => inAcme(make))

    for (const [text, expected] of [
      ['project.title = "Project p1"', 't1 t2'],
      ['project.title:"p2"', 't3'],
      ['project.phase = ACTIVE', 't1 t2'],
      ['project.phase != ACTIVE', 't3'],
      ['NOT project.phase = ACTIVE', 't3'],
      ['project.budget > 4000000000000000000', 't1 t2'],
      ['project.budget = 4611686018427387904', 't1 t2'],
      ['project.note = null', 't1 t2 t4'],
      ['project.note:*', 't3'],
      ['project.note != null', 't3'],
      ['project.labels.env = "prod"', 't1 t2'],
      ['project.labels:env', 't1 t2'],
      ['NOT project.labels:env', 't3 t4'],
      ['has(project.labels.env)', 't1 t2'],
      ['project:*', 't1 t2 t3'],
      ['NOT project:*', 't4'],
      ['project = null', 't4'],
      ['project != null', 't1 t2 t3'],
      ['project.id = "p1"', 't1 t2'],
      ['project.owner.title = "Person ada"', 't1 t2'],
      ['project.owner.country.title:"Nor"', 't1 t2'],
      ['NOT project.owner.country:*', 't3 t4'],
      ['after.title = "Task t1"', 't2'],
      ['after.project.phase = ACTIVE AND project.phase = ACTIVE', 't2'],
      ['project.phase = ACTIVE OR lead.title:"ada"', 't1 t2 t3'],
      ['title:"t1" project.phase = ACTIVE', 't1'],
      ['lead.badge:*', 't3'],
      ['lead.badge.color:"red"', 't3'],
      ['steps:*', 't1 t2'],
      ['NOT steps:*', 't3 t4'],
      ['steps.title:"dig"', 't1'],
      ['steps.title = "dig"', 't1'],
      ['steps.title > "dig"', 't1 t2'],
      ['steps.done:false', 't1 t2'],
      ['steps.done:true', 't1'],
      ['NOT steps.done:true', 't2 t3 t4'],
      ['steps.done:true AND steps.title:"fill"', 't1'],
      ['steps.task.title:"Task t2"', 't2'],
      ['project.tasks.title:"Task t2"', 't1 t2'],
      ['project.tasks.title:"Task t2" AND NOT title:"t2"', 't1'],
    ] as const)
      it(text, () => inAcme(async () => expect(await listed(text)).to.equal(expected)))

    it('takes values of the tag, and a name that is quoted nowhere', () =>
      inAcme(async () => {
        const title = 'Project p1" OR title:"'
        expect(await listed(filter`project.title = ${title}`)).to.equal('')
        expect(await listed(filter`project.title = ${'Project p1'} AND steps.title:${'dig'}`)).to.equal('t1')
      }))

    it('finds no deleted one, also with showDeleted', () =>
      inAcme(async () => {
        const { projects, tasks } = holder.plans
        await tasks.delete('t3')
        await projects.delete('p2')
        const found = await tasks.list({ filter: 'project:*', showDeleted: true }, { through: ['project'] })
        expect(ids(found.items)).to.equal('t1 t2')
        const { items } = await tasks.list(
          { filter: 'project = null', showDeleted: true },
          { through: ['project'] },
        )
        expect(ids(items)).to.equal('t3 t4')
        await holder.plans.steps.delete('s3')
        await tasks.delete('t2')
        expect(
          ids((await projects.list({ filter: 'tasks.title:"Task t2"' }, { through: ['tasks'] })).items),
        ).to.equal('')
      }))

    it('finds none of another tenant, whatever its key', async () => {
      await as('other', async () => {
        const { persons, projects, steps, tasks } = holder.plans
        await persons.create(aPerson('ada'))
        await projects.create(aProject('p1', { title: 'foreign', ownerId: 'ada' }))
        await tasks.create(aTask('t4', { projectId: 'p1' }))
        await steps.create(aStep('s9', 't4', { title: 'foreign' }))
      })
      await inAcme(async () => {
        expect(await listed('project.title:"foreign"')).to.equal('')
        expect(await listed('steps.title:"foreign"')).to.equal('')
        expect(await listed('project.tasks.title:"Task t4"')).to.equal('')
      })
      const found = await RequestContext.asSystem(() =>
        holder.plans.tasks.list({ filter: 'project.title:"foreign" AND steps:*' }, { through: ALL }),
      )
      expect(found.items.map(({ id, accountId }) => `${accountId} ${id}`)).to.deep.equal(['other t4'])
    })

    it('finds of those that refer to a shared resource the ones of the tenant', async () => {
      const { countries, persons, tasks } = holder.plans
      await as('other', () => persons.create(aPerson('eve', { countryId: 'no', title: 'foreign' })))
      const through = ['persons']
      const foreign = { filter: 'persons.title:"foreign"' }
      await inAcme(async () => {
        expect(ids((await countries.list({ filter: 'persons:*' }, { through })).items)).to.equal('no')
        expect((await countries.list(foreign, { through })).items).to.deep.equal([])
        const hops = { through: ['lead.country.persons'] }
        expect(
          (await tasks.list({ filter: 'lead.country.persons.title:"foreign"' }, hops)).items,
        ).to.deep.equal([])
        expect(
          ids((await tasks.list({ filter: 'lead.country.persons.title:"Person ada"' }, hops)).items),
        ).to.equal('t3')
      })
      await as('third', async () => {
        expect((await countries.list({ filter: 'persons:*' }, { through })).items).to.deep.equal([])
      })
      await RequestContext.as({ subject: 'ada', tenant: '', groups: [] }, async () => {
        expect(ids((await countries.list({})).items)).to.equal('no')
        await rejection(countries.list(foreign, { through }), PermissionDenied)
      })
      const system = () => countries.list(foreign, { through })
      expect(ids((await RequestContext.asSystem(system)).items)).to.equal('no')
      expect((await RequestContext.asSystem({ tenant: 'acme' }, system)).items).to.deep.equal([])
      const hop = () =>
        tasks.list({ filter: 'lead.country.persons:*' }, { through: ['lead.country.persons'] })
      expect((await rejection(RequestContext.asSystem(hop), TypeError)).message).to.match(
        /asSystem\(\{ tenant \}\)/,
      )
      expect(ids((await RequestContext.asSystem({ tenant: 'acme' }, hop)).items)).to.equal('t3')
    })

    it('finds only what `where` lets it', () =>
      inAcme(async () => {
        const through = [
          { relation: 'project', where: filter`phase = ACTIVE` },
          'project.owner',
          { relation: 'steps', where: filter`done = false` },
        ]
        expect(await listed('project:*', through)).to.equal('t1 t2')
        expect(await listed('project = null', through)).to.equal('t3 t4')
        expect(await listed('project.owner.title:"bob"', through)).to.equal('')
        expect(await listed('steps.title:"dig"', through)).to.equal('')
        expect(await listed('steps:*', through)).to.equal('t1 t2')
      }))

    it('names nothing that `through` leaves out, with the words of a field that is not there', () =>
      inAcme(async () => {
        const { tasks } = holder.plans
        for (const name of ['project', 'nothing'])
          for (const rest of ['.title = "a"', ':*', ' = null', '.nothing = 1', '.owner.title:"a"']) {
            const error = await rejection(
              tasks.list({ filter: `${name}${rest}` }, { through: ['lead'] }),
              InvalidArgument,
            )
            const path = /^[\w.]+/.exec(`${name}${rest}`)?.[0]
            expect(error.message).to.match(new RegExp(`^filter: unknown field "${path}" at position 1`))
          }
        const hop = await rejection(
          tasks.list({ filter: 'project.owner.title = "a"' }, { through: ['project'] }),
          InvalidArgument,
        )
        expect(hop.message).to.match(/unknown field "project.owner.title"/)
      }))

    for (const [text, why] of [
      ['project.nothing = 1', /unknown field "project.nothing"/],
      ['project.api_key = "a"', /unknown field "project.api_key"/],
      ['project.etag = "a"', /field "project.etag" cannot be filtered/],
      ['lead.password = "a"', /"lead.password"/],
      ['project = "p1"', /"project" is another resource: test whether it exists, as in project:\*/],
      ['steps = "s1"', /"steps" can have several: test whether one exists, as in steps:\*/],
      ['steps.title != "dig"', /"steps.title" has several values.*write NOT steps.title/],
      ['project.title > 1', /takes a string in double quotes/],
      ['project.', /expected a name after the dot/],
      ['project.title:*', /"project.title" is always set/],
      ['NOT project.owner.title:*', /"project.owner.title" is always set/],
      ['steps.title:*', /"steps.title" is always set/],
    ] as const)
      it(`is refused: ${text}`, () =>
        inAcme(async () => {
          const error = await rejection(
            holder.plans.tasks.list({ filter: text }, { through: ALL }),
            InvalidArgument,
          )
          expect(error.message).to.match(why)
        }))

    it('follows at most eight relations, each counted once in a path', () =>
      inAcme(async () => {
        const eight = Array.from({ length: 8 }, () => 'steps:*').join(' ')
        expect(await listed(eight)).to.equal('t1 t2')
        expect(await listed(Array.from({ length: 100 }, () => 'project:*').join(' '))).to.equal('t1 t2 t3')
        for (const more of ['steps:*', 'project.title = "a"'])
          expect(
            (
              await rejection(
                holder.plans.tasks.list({ filter: `${eight} ${more}` }, { through: ALL }),
                InvalidArgument,
              )
            ).message,
          ).to.match(/exceeds the 8/)
        const order = await rejection(
          holder.plans.tasks.list({ filter: eight, orderBy: 'project.title' }, { through: ALL }),
          InvalidArgument,
        )
        expect(order.message).to.match(/^order_by: "project" exceeds the 8 relations/)
      }))

    it('is rejected together with a lock', () =>
      inAcme(async () => {
        const { tasks } = holder.plans
        await tasks.transaction(async () => {
          const options = { through: ALL, lock: 'update' } as const
          for (const list of [{ filter: 'project:*' }, { filter: 'steps:*' }, { orderBy: 'project.title' }])
            expect((await rejection(tasks.list(list, options), InvalidArgument)).message).to.match(
              /cannot be named while rows are locked/,
            )
          expect(ids((await tasks.list({ filter: 'title:"t1"' }, options)).items)).to.equal('t1')
        })
      }))

    it('rejects an invalid `through`', () =>
      inAcme(async () => {
        const { tasks } = holder.plans
        for (const [through, why] of [
          [['nothing'], /through: Task has no relation "nothing"/],
          [['project.owner.country.x'], /has more than 3 relations/],
          [[{ relation: 'project', where: '' as never }], /`where` of "project" is blank/],
          [[{ relation: 'project', where: filter`nothing = ${1}` }], /Project: a predicate/],
          [[{ relation: 'lead', where: filter`badge.color = ${1}` }], /Person: a predicate/],
        ] as const)
          expect((await rejection(tasks.list({}, { through }), TypeError)).message).to.match(why)
      }))
  })
}
