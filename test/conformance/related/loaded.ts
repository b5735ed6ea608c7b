import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import { ResourceExhausted } from '../../../lib/errors.js'
import { MAX_LOADED } from '../../../lib/persistence/relations/load-related.js'
import { Person, Project, Step, Task } from '../../support/entities/plans.js'
import { rejection } from '../../support/rejection.js'
import { aPerson, aProject, as, aStep, aTask, inAcme, type PlansHolder, sentBy } from './plans.js'

/** What `with` reads, and what it never reads. */
export const loaded = (holder: PlansHolder): void => {
  const make = async () => {
    const { badges, countries, persons, projects, steps, tasks } = holder.plans
    await countries.create({ id: 'no', title: 'Norway' })
    await persons.create(aPerson('ada', { countryId: 'no' }))
    await persons.create(aPerson('bob'))
    await badges.create({ id: 'b1', color: 'red', person: { id: 'ada' } as Person, ...{ personId: 'ada' } })
    await projects.create(aProject('p1', { ownerId: 'ada' }))
    await projects.create(aProject('p2'))
    await tasks.create(aTask('t1', { projectId: 'p1', leadId: 'bob' }))
    await tasks.create(aTask('t2', { projectId: 'p1', afterId: 't1' }))
    await tasks.create(aTask('t3', { projectId: 'p2', leadId: 'ada' }))
    await tasks.create(aTask('t4'))
    for (const id of ['s3', 's1', 's2']) await steps.create(aStep(id, id === 's3' ? 't2' : 't1'))
  }

  describe('a list with relations', () => {
    beforeEach(() => inAcme(make))

    it('reads what an entity refers to, and undefined where it refers to nothing', () =>
      inAcme(async () => {
        const { items } = await holder.plans.tasks.list({ with: ['project', 'lead'] })
        expect(items.map(({ project, lead }) => [project?.title, lead?.title])).to.deep.equal([
          ['Project p1', 'Person bob'],
          ['Project p1', undefined],
          ['Project p2', 'Person ada'],
          [undefined, undefined],
        ])
        expect(items[0]?.project).to.be.instanceOf(Project)
        expect(items[3]).to.have.property('project', undefined)
      }))

    it('reads them in the order of a list that leads through relations, from page to page', () =>
      inAcme(async () => {
        const { tasks } = holder.plans
        const read = (pageToken = '') =>
          tasks.list(
            {
              filter: 'project.title:"Project"',
              orderBy: 'project.title desc, id',
              pageSize: 2,
              pageToken,
              with: ['project', 'lead.badge', 'steps'],
            },
            { through: ['project'] },
          )
        const first = await read()
        const second = await read(first.nextPageToken)
        const items = [...first.items, ...second.items]
        expect(
          items.map(({ id, project, lead, steps }) => [id, project?.id, lead?.badge?.id, steps.length]),
        ).to.deep.equal([
          ['t3', 'p2', 'b1', 0],
          ['t1', 'p1', undefined, 2],
          ['t2', 'p1', undefined, 1],
        ])
      }))

    it('reads nothing that it is not asked for', () =>
      inAcme(async () => {
        const { items } = await holder.plans.tasks.list({ with: ['lead'] })
        expect(items[0]).not.to.have.property('project')
        expect((await holder.plans.tasks.list()).items[0]).not.to.have.property('lead')
        expect((await holder.plans.tasks.list({ with: [] })).items[0]).not.to.have.property('lead')
      }))

    it('reads those that refer to an entity, in the order of their keys', () =>
      inAcme(async () => {
        const { items } = await holder.plans.tasks.list({ with: ['steps'] })
        expect(items.map(({ steps }) => steps.map(({ id }) => id))).to.deep.equal([
          ['s1', 's2'],
          ['s3'],
          [],
          [],
        ])
        expect(items[0]?.steps[0]).to.be.instanceOf(Step)
      }))

    it('reads relations of relations, of the resource itself, of shared ones, and the other side of one to one', () =>
      inAcme(async () => {
        const { items } = await holder.plans.tasks.list({
          with: ['project.owner.country', 'after.project', 'lead', 'lead.badge'],
        })
        expect(items[0]?.project?.owner?.country?.title).to.equal('Norway')
        expect(items[1]?.after?.project?.id).to.equal('p1')
        expect(items[2]?.lead?.badge?.color).to.equal('red')
        expect(items[0]?.lead?.badge).to.equal(undefined)
        const { items: projects } = await holder.plans.projects.list({ with: ['tasks.steps'] })
        expect(projects.map(({ tasks }) => tasks.map(({ steps }) => steps.length))).to.deep.equal([
          [2, 1],
          [0],
        ])
      }))

    it('reads of those that refer to a shared resource the ones of the tenant', async () => {
      const { countries, persons } = holder.plans
      await as('other', () => persons.create(aPerson('eve', { countryId: 'no' })))
      const read = async () =>
        (await countries.list({ with: ['persons'] })).items[0]?.persons.map(({ id }) => id)
      expect(await inAcme(read)).to.deep.equal(['ada'])
      expect(await as('third', read)).to.deep.equal([])
    })

    it('sends one statement for each relation, whatever the number of entities', async () => {
      const { tasks } = holder.plans
      await inAcme(async () => {
        for (let i = 0; i < 40; i++)
          await tasks.create(aTask(`u${i}`, { projectId: `p${1 + (i % 2)}`, leadId: 'ada' }))
      })
      const count = (fn: () => Promise<unknown>) => sentBy(holder.plans, () => inAcme(fn))
      const two = await count(() => tasks.list({ with: ['project', 'lead'] }))
      if (two === undefined) return
      expect(two).to.have.length(3)
      expect(await count(() => tasks.list({ with: ['project.owner', 'steps', 'after'] }))).to.have.length(5)
      expect(await count(() => tasks.get('t1', { with: ['project', 'steps'] }))).to.have.length(3)
      expect(await count(() => tasks.batchGet(['t1', 't2', 't1'], { with: ['project'] }))).to.have.length(2)
      // Where nothing is referred to, nothing is asked.
      expect(await count(() => tasks.get('t4', { with: ['project', 'lead'] }))).to.have.length(1)
      expect(await count(() => tasks.list())).to.have.length(1)
    })

    it('reads them with get, batchGet and a lookup', () =>
      inAcme(async () => {
        const { projects, tasks } = holder.plans
        expect((await tasks.get('t1', { with: ['project'] })).project?.id).to.equal('p1')
        const batch = await tasks.batchGet(['t3', 't1', 't3'], { with: ['project', 'steps'] })
        expect(batch.map(({ project, steps }) => [project?.id, steps.length])).to.deep.equal([
          ['p2', 0],
          ['p1', 2],
          ['p2', 0],
        ])
        await projects.create(aProject('p3', { ownerId: 'bob', apiKey: 'k-3' as never }))
        const { items } = await projects.list()
        expect(items.every((project) => !('owner' in project))).to.equal(true)
      }))

    it('reads them in the transaction that the call is in, and those of it that are written', () =>
      inAcme(async () => {
        const { projects, tasks } = holder.plans
        await tasks.transaction(async () => {
          await projects.create(aProject('p9'))
          await tasks.create(aTask('t9', { projectId: 'p9' }))
          expect((await tasks.get('t9', { with: ['project'], lock: 'update' })).project?.id).to.equal('p9')
        })
      }))

    it('calls the hooks of what it reads once for each, with its own relations there', () =>
      inAcme(async () => {
        const { items } = await holder.plans.tasks.list({ with: ['lead', 'project.owner'] })
        expect(items[0]?.lead?.called).to.equal(1)
        expect(items[0]?.project?.owner?.called).to.equal(1)
      }))

    it('never has a secret in what it reads', () =>
      inAcme(async () => {
        const { projects, tasks } = holder.plans
        await projects.create(aProject('p3', { apiKey: 'canary' as never }))
        await tasks.create(aTask('t9', { projectId: 'p3' }))
        const { project } = await tasks.get('t9', { with: ['project'] })
        expect(project?.id).to.equal('p3')
        expect(
          JSON.stringify(project, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)),
        ).not.to.match(/canary|apiKey/)
      }))
  })

  describe('a relation', () => {
    beforeEach(() => inAcme(make))

    it('is undefined where the other resource is deleted', () =>
      inAcme(async () => {
        const { plans } = holder
        await plans.edit(Project, 'p1', { deleteTime: '2030-01-01 00:00:00' })
        const { items } = await plans.tasks.list({ with: ['project'] })
        expect(items.map(({ project }) => project?.id)).to.deep.equal([undefined, undefined, 'p2', undefined])
        expect(items[0]?.projectId).to.equal('p1')
        await plans.edit(Task, 't1', { deleteTime: '2030-01-01 00:00:00' })
        const [p2] = (await plans.projects.list({ with: ['tasks'] })).items
        expect(p2?.tasks.map(({ id }) => id)).to.deep.equal(['t3'])
      }))

    it('is never a resource of another tenant, not even where two have the same key', async () => {
      const { plans } = holder
      await as('globex', async () => {
        await plans.projects.create(aProject('p1', { title: 'theirs' }))
        await plans.projects.create(aProject('only-theirs'))
        await plans.tasks.create(aTask('t1', { projectId: 'p1' }))
        await plans.steps.create(aStep('s1', 't1', { title: 'theirs' }))
      })
      await inAcme(async () => {
        const { items } = await plans.tasks.list({ with: ['project', 'steps'] })
        expect(
          JSON.stringify(items, (_, value: unknown) => (typeof value === 'bigint' ? 0 : value)),
        ).not.to.match(/theirs|globex/)
      })
      await as('globex', async () => {
        const { project, steps } = await plans.tasks.get('t1', { with: ['project', 'steps'] })
        expect([project?.title, steps.map(({ title }) => title)]).to.deep.equal(['theirs', ['theirs']])
      })
    })

    it('is of the tenant of its entity where a call spans all tenants', async () => {
      const { plans } = holder
      await as('globex', async () => {
        await plans.projects.create(aProject('p1', { title: 'theirs' }))
        await plans.tasks.create(aTask('t1', { projectId: 'p1' }))
        await plans.steps.create(aStep('s1', 't1', { title: 'theirs' }))
      })
      await RequestContext.asSystem({ reason: 'a test' }, async () => {
        const { items } = await plans.tasks.list({ filter: 'id = "t1"', with: ['project', 'steps'] })
        const seen = items.map(({ accountId, project, steps }) => [
          accountId,
          project?.accountId,
          ...new Set(steps.map((step) => step.accountId)),
        ])
        expect(seen).to.have.deep.members([
          ['acme', 'acme', 'acme'],
          ['globex', 'globex', 'globex'],
        ])
      })
    })

    it('is refused where entities of several tenants would share what leads to the rows of each of them', async () => {
      const { persons, tasks, countries } = holder.plans
      await as('globex', async () => {
        await persons.create(aPerson('eve', { countryId: 'no' }))
        await tasks.create(aTask('t9', { leadId: 'eve' }))
      })
      const read = { with: ['lead.country.persons'] } as const
      const list = async () =>
        (await tasks.list(read)).items.flatMap(({ lead }) => lead?.country?.persons.map(({ id }) => id) ?? [])
      await rejection(RequestContext.asSystem(list), TypeError, /asSystem\(\{ tenant \}\)/)
      await rejection(
        RequestContext.asSystem(() => persons.get('eve', { with: ['country.persons'] })),
        TypeError,
        /Person resources of all tenants cannot be found through Country/,
      )
      expect(await RequestContext.asSystem({ tenant: 'globex' }, list)).to.deep.equal(['eve'])
      const all = await RequestContext.asSystem(() => countries.list({ with: ['persons'] }))
      expect(all.items.map(({ persons: of }) => of.map(({ id }) => id))).to.deep.equal([['ada', 'eve']])
    })

    it('is never one that a database without its foreign key refers to in another tenant', async () => {
      const { plans } = holder
      await plans.dropReferenceOfTasks()
      await as('globex', () => plans.projects.create(aProject('only-theirs')))
      await plans.edit(Task, 't1', { projectId: 'only-theirs' })
      await inAcme(async () => {
        const task = await plans.tasks.get('t1', { with: ['project', 'lead'] })
        expect([task.projectId, task.project, task.lead?.id]).to.deep.equal(['only-theirs', undefined, 'bob'])
      })
      await RequestContext.asSystem({ reason: 'a test' }, async () => {
        const { items } = await plans.tasks.list({ with: ['project'] })
        expect(items.map(({ project }) => project?.id)).to.deep.equal([undefined, 'p1', 'p2', undefined])
      })
    })

    it('is refused where a page has too many', function () {
      return inAcme(async () => {
        const { dataSource, steps, tasks } = holder.plans
        // A row each is slow, and a copy of the rows is the same on every database.
        const make = (from: number, to: number) =>
          steps.transaction(async () => {
            for (let i = from; i < to; i++) await steps.create(aStep(`x${String(i).padStart(6, '0')}`, 't4'))
          })
        if (dataSource === undefined) await make(0, MAX_LOADED + 1)
        else {
          await make(0, 20)
          for (let copies = 1; 20 * copies <= MAX_LOADED; copies *= 2)
            await dataSource.query(
              `INSERT INTO steps (id, account_id, task_id, title, done) SELECT ${concat(dataSource, copies)}, account_id, task_id, title, done FROM steps WHERE task_id = 't4'`,
            )
        }
        await rejection(
          tasks.get('t4', { with: ['steps'] }),
          ResourceExhausted,
          /steps of these Task resources are more than 10000/,
        )
        expect((await tasks.get('t1', { with: ['steps'] })).steps).to.have.length(2)
        // The row behind the page counts for nothing.
        const { items } = await tasks.list({ orderBy: 'id', pageSize: 3, with: ['steps'] })
        expect(items.map((task) => task.steps.length)).to.deep.equal([2, 1, 0])
        const last = await tasks.list({
          orderBy: 'id desc',
          pageSize: 1,
          filter: 'id < "t4"',
          with: ['steps'],
        })
        expect(last.items.map((task) => task.steps.length)).to.deep.equal([0])
      })
    })
  })

  describe('what is no relation', () => {
    it('is refused by name', () =>
      inAcme(async () => {
        const { tasks } = holder.plans
        const asked = (...paths: string[]) => tasks.list({ with: paths as never })
        // @ts-expect-error -- a column is no relation
        await rejection(tasks.list({ with: ['title'] }), TypeError)
        // @ts-expect-error -- nor is a column of a relation
        await rejection(tasks.list({ with: ['project.title'] }), TypeError)
        await rejection(
          asked('projekt'),
          TypeError,
          /Task has no relation "projekt": it has project, lead, after, steps/,
        )
        await rejection(asked('title'), TypeError, /no relation "title"/)
        await rejection(asked('project.constructor'), TypeError, /Project has no relation "constructor"/)
        await rejection(asked('after.after.after.after'), TypeError, /more than 3 relations/)
        await rejection(
          holder.plans.countries.list({ with: ['x'] as never }),
          TypeError,
          /Country has no relation/,
        )
      }))
  })
}

const concat = (
  { options: { type } }: { readonly options: { readonly type: string } },
  copies: number,
): string => (type === 'mysql' || type === 'mariadb' ? `CONCAT(id, '-${copies}')` : `id || '-${copies}'`)
