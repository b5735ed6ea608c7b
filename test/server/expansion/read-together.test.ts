import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import { DeclarationError, ErrNotFound } from '../../../lib/errors.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import type { AuthorizationRequest } from '../../../lib/server/authz/authorizer.js'
import { authorizeEntity, type Decision } from '../../../lib/server/authz/decision.js'
import { wrapped } from '../../../lib/server/methods/wrapped.js'
import { testServer, type TestServer } from '../../../lib/testing/harness/test-server.js'
import {
  aPerson,
  aProject,
  as,
  aTask,
  inAcme,
  openPlans,
  type Plans,
  sentBy,
} from '../../conformance/related/plans.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { Project } from '../../support/entities/plans.js'
import {
  CountryService,
  PersonService,
  ProjectService,
  StepService,
  type Task as TaskMessage,
  TaskService,
} from '../../support/gen/plans_pb.js'
import { rejection } from '../../support/rejection.js'

const mask = (...paths: string[]) => ({ readMask: { paths } })

describeOn('read masks of relations', backends, (backend) => {
  let plans: Plans
  let server: TestServer
  let decide: (request: AuthorizationRequest) => Decision | Promise<Decision> = () => true
  let asked: AuthorizationRequest[] = []

  before(async () => {
    plans = await openPlans(backend)
    server = await testServer(
      (builder) =>
        builder
          .limits({ maxResponseBytes: 20_000 })
          .register(CountryService, plans.countries)
          .register(PersonService, plans.persons)
          .register(ProjectService, plans.projects)
          .register(StepService, plans.steps)
          .register(TaskService, plans.tasks, {
            planTask: async ({ id }) => ({
              task: plans.tasks.model.toMessage(
                await RequestContext.asSystem({ tenant: 'acme' }, () => plans.tasks.get(id)),
              ),
              advice: 'start',
            }),
            watchTasks: async function* () {
              for (const task of (await plans.tasks.list()).items)
                yield plans.tasks.model.toMessage<TaskMessage>(task)
            },
            batchGetTasks: wrapped({}, (request, _call, standard) => standard(request)),
          }),
      {
        authorizer: {
          decidesByRow: true,
          authorize: (request) => {
            asked.push(request)
            return decide(request)
          },
        },
      },
    )
  })
  after(async () => {
    await server?.stop()
    await plans?.close()
  })
  beforeEach(async () => {
    decide = () => true
    await plans.clear()
    await inAcme(async () => {
      await plans.countries.create({ id: 'no', title: 'Norway' })
      await plans.persons.create(aPerson('ada', { countryId: 'no' }))
      await plans.projects.create(aProject('p1', { ownerId: 'ada', apiKey: 'canary' as never }))
      await plans.projects.create(aProject('p2'))
      await plans.tasks.create(aTask('t1', { projectId: 'p1', leadId: 'ada' }))
      await plans.tasks.create(aTask('t2', { projectId: 'p1', afterId: 't1' }))
      await plans.tasks.create(aTask('t3', { projectId: 'p2' }))
      await plans.tasks.create(aTask('t4'))
    })
    asked = []
  })

  const ada = () => server.as({ tenant: 'acme', subject: 'ada' })
  const tasks = () => ada().client(TaskService)
  const titles = (list: readonly TaskMessage[]) => list.map(({ project }) => project?.title)

  it('show a relation in a list, a get and a batch, and only where a path leads into it', async () => {
    const listed = await tasks().listTasks(mask('id', 'project'))
    expect(titles(listed.tasks)).to.deep.equal(['Project p1', 'Project p1', 'Project p2', undefined])
    expect(listed.tasks[0]?.title).to.equal('')
    expect((await tasks().listTasks({})).tasks.some(({ project }) => project !== undefined)).to.equal(false)
    expect((await tasks().getTask({ id: 't1', ...mask('*') })).project).to.equal(undefined)
    const got = await tasks().getTask({ id: 't1', ...mask('project.title', 'title') })
    expect([got.title, got.project?.title, got.project?.id, got.id]).to.deep.equal([
      'Task t1',
      'Project p1',
      '',
      '',
    ])
    const all = await tasks().getTask({ id: 't1', ...mask('*', 'project') })
    expect([all.title, all.project?.id, all.projectId]).to.deep.equal(['Task t1', 'p1', 'p1'])
    const batch = await tasks().batchGetTasks({ ids: ['t3', 't1'], ...mask('project') })
    expect(titles(batch.tasks)).to.deep.equal(['Project p2', 'Project p1'])
  })

  it('show it in the response of a write, of a function of its own, and in each message of a stream', async () => {
    const created = await tasks().createTask({
      task: { id: 't9', title: 'x', projectId: 'p2' },
      ...mask('project.id'),
    })
    expect(created.project?.id).to.equal('p2')
    const updated = await tasks().updateTask({
      task: { id: 't4', projectId: 'p1' },
      updateMask: { paths: ['project_id'] },
      ...mask('project.id', 'id'),
    })
    expect([updated.id, updated.project?.id]).to.deep.equal(['t4', 'p1'])
    const planned = await tasks().planTask({ id: 't1', ...mask('task.project.owner.title', 'advice') })
    expect([planned.advice, planned.task?.project?.owner?.title]).to.deep.equal(['start', 'Person ada'])
    const seen: (string | undefined)[] = []
    for await (const { project } of tasks().watchTasks(mask('project'))) seen.push(project?.id)
    expect(seen.slice(0, 4)).to.deep.equal(['p1', 'p1', 'p2', 'p1'])
  })

  it('show relations of relations, of the resource itself, and a public one', async () => {
    const { tasks: found } = await tasks().listTasks(
      mask('project.owner.country', 'after.project', 'lead.title'),
    )
    expect(found[0]?.project?.owner?.country?.title).to.equal('Norway')
    expect(found[1]?.after?.project?.id).to.equal('p1')
    expect(found[0]?.lead).to.deep.include({ title: 'Person ada', id: '' })
  })

  it('show it over HTTP as over gRPC', async () => {
    const response = await ada().fetch('/v1/tasks?read_mask=id,project.title')
    expect(await response.json()).to.deep.include({
      tasks: [
        { id: 't1', project: { title: 'Project p1' } },
        { id: 't2', project: { title: 'Project p1' } },
        { id: 't3', project: { title: 'Project p2' } },
        { id: 't4' },
      ],
    })
  })

  it('cost one statement for each relation, and leave the etag as it is', async () => {
    const count = async (...paths: string[]) =>
      (await sentBy(plans, () => tasks().listTasks(paths.length === 0 ? {} : mask(...paths))))?.length
    expect([
      await count(),
      await count('project', 'lead'),
      await count('project.owner.country'),
    ]).to.deep.equal(
      // SQLite cannot end a read, and reads the sizes of several rows first.
      { memory: [undefined, undefined, undefined], sqlite: [2, 5, 6] }[backend.name as string] ?? [1, 3, 4],
    )
    const plain = await ada().fetch('/v1/tasks/t1')
    const shown = await ada().fetch('/v1/tasks/t1?read_mask=project')
    expect(shown.headers.get('etag')).to.equal(plain.headers.get('etag'))
  })

  it('never show a secret, or what is for input alone', async () => {
    const got = await tasks().getTask({
      id: 't1',
      ...mask('project', 'lead', 'project.api_key', 'lead.password'),
    })
    expect([got.project?.id, got.project?.apiKey, got.lead?.password]).to.deep.equal(['p1', '', ''])
  })

  it('show nothing of another tenant, and nothing that is deleted', async () => {
    await as('globex', async () => {
      await plans.projects.create(aProject('p1', { title: 'theirs' }))
      await plans.tasks.create(aTask('t1', { projectId: 'p1' }))
    })
    expect((await tasks().getTask({ id: 't1', ...mask('project') })).project?.title).to.equal('Project p1')
    await plans.edit(Project, 'p1', { deleteTime: '2030-01-01 00:00:00' })
    const got = await tasks().getTask({ id: 't1', ...mask('project', 'project_id') })
    expect([got.projectId, got.project]).to.deep.equal(['p1', undefined])
  })

  it('ask as the Get of the other resource is asked, and show nothing that is denied', async () => {
    decide = ({ type, verb, resource }) =>
      !(type === 'project' && verb === 'get' && resource === 'project:p1')
    const { tasks: found } = await tasks().listTasks(mask('project', 'project_id'))
    expect(titles(found)).to.deep.equal([undefined, undefined, 'Project p2', undefined])
    expect(found[0]?.projectId).to.equal('p1')
    expect(
      asked.map(({ method, verb, resource }) => `${method.split('/')[2]} ${verb} ${resource}`),
    ).to.deep.equal(['ListTasks list task', 'GetProject get project:p1', 'GetProject get project:p2'])
    decide = ({ type }) => type === 'task'
    expect(
      titles((await tasks().listTasks(mask('project.title'))).tasks).every((one) => one === undefined),
    ).to.equal(true)
  })

  it('show only the rows that a decision by row allows, in the same statement', async () => {
    decide = ({ type, verb }) =>
      type === 'project' && verb === 'get' ? { where: filter`title = ${'Project p2'}` } : true
    expect(titles((await tasks().listTasks(mask('project'))).tasks)).to.deep.equal([
      undefined,
      undefined,
      'Project p2',
      undefined,
    ])
    decide = ({ type, resource }) =>
      type === 'project'
        ? { where: filter`title = ${resource === 'project:p1' ? 'Project p1' : 'nobody'}` }
        : true
    const sent = await sentBy(plans, async () => {
      expect(titles((await tasks().listTasks(mask('project'))).tasks)).to.deep.equal([
        'Project p1',
        'Project p1',
        undefined,
        undefined,
      ])
    })
    if (sent !== undefined) expect(sent).to.have.length(backend.name === 'sqlite' ? 4 : 2)
    decide = ({ type }) =>
      type === 'project'
        ? authorizeEntity<Project>(
            ({ id }, { message }) => id === 'p2' && (message as { id?: string }).id === 'p2',
          )
        : true
    expect(titles((await tasks().listTasks(mask('project'))).tasks)).to.deep.equal([
      undefined,
      undefined,
      'Project p2',
      undefined,
    ])
  })

  it('read resources of at most limits.maxResponseBytes for all relations of a response together', async () => {
    const large = 'x'.repeat(12_000)
    await inAcme(async () => {
      await plans.persons.create(aPerson('eve', { password: large }))
      await plans.projects.create(aProject('p3', { note: large, ownerId: 'eve' }))
      await plans.projects.create(aProject('p4', { note: large }))
      await plans.tasks.create(aTask('t5', { projectId: 'p3', leadId: 'eve' }))
      await plans.tasks.create(aTask('t6', { projectId: 'p4' }))
    })
    const get = (...paths: string[]) => tasks().getTask({ id: 't5', ...mask(...paths) })
    expect((await get('project.id')).project?.id).to.equal('p3')
    expect((await get('lead.id')).lead?.id).to.equal('eve')
    for (const paths of [['project.id', 'lead.id'], ['project.owner.id']])
      expect((await rejection(get(...paths), Error)).message).to.include('limits.maxResponseBytes')
    await rejection(tasks().listTasks(mask('project.id')), Error)
    // Each message of a stream may have as many.
    const seen: (string | undefined)[] = []
    for await (const { project } of tasks().watchTasks(mask('project.id'))) seen.push(project?.id)
    expect(seen).to.include.members(['p3', 'p4'])
  })

  it('refuse paths that are not fields, that lead too far, and into too much', async () => {
    const refused = (...paths: string[]) =>
      tasks()
        .listTasks(mask(...paths))
        .then(
          () => '',
          ({ details }: Error & { details: string }) => details,
        )
    expect(await refused('project.nope')).to.match(/not a field that can be read/)
    expect(await refused('after.after.after.after')).to.match(/more than 3 resources/)
    const most = [
      ...[
        'project.owner.country',
        'lead.country',
        'after.project.owner',
        'after.lead.country',
        'after.after',
      ],
      ...['id', 'project.id', 'project.owner.id', 'after.project.title'],
    ]
    expect(await refused(...most, 'after.after.project')).to.equal('')
    expect(await refused(...most, 'after.after.project', 'after.after.lead')).to.match(
      /leads into more than 12 resources/,
    )
  })

  it('show nothing to a caller without a tenant, whatever a function returns', async () => {
    const eve = server.as({ tenant: '', subject: 'eve' }).client(TaskService)
    const { task } = await eve.planTask({ id: 't1', ...mask('task') })
    expect(task?.projectId).to.equal('p1')
    const shown = await eve.planTask({ id: 't1', ...mask('task.project', 'task.project_id') })
    expect([shown.task?.projectId, shown.task?.project]).to.deep.equal(['p1', undefined])
  })
})

describe('a server with readable relations', () => {
  it('does not start where nobody serves the other resource, or a function of its own does', async () => {
    const plans = await openPlans({
      name: 'memory',
      available: () => Promise.resolve(true),
      open: () =>
        Promise.resolve({ dataSource: undefined, database: undefined, close: () => Promise.resolve() }),
    })
    const unserved = testServer((builder) => builder.register(ProjectService, plans.projects))
    await rejection(
      unserved,
      DeclarationError,
      /owner of plans.v1.Project cannot be read: no service has a Get of plans.v1.Person/,
    )
    const own = testServer((builder) =>
      builder
        .register(CountryService, plans.countries)
        .register(PersonService, plans.persons, {
          getPerson: () => {
            throw new ErrNotFound()
          },
        })
        .register(ProjectService, plans.projects),
    )
    await rejection(own, DeclarationError, /PersonService\/GetPerson has its own function/)
  })
})
