import { expect } from 'chai'
import type { ServerCall } from '../../../lib/call.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import type { AuthorizationRequest } from '../../../lib/server/authz/authorizer.js'
import { authorizeEntity, type Decision } from '../../../lib/server/authz/decision.js'
import { supportsRowAccess } from '../../../lib/server/chain/handler.js'
import { testServer, type TestServer } from '../../../lib/testing/harness/test-server.js'
import {
  aPerson,
  aProject,
  as,
  aTask,
  inAcme,
  openPlans,
  type Plans,
} from '../../conformance/related/plans.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import type { Project } from '../../support/entities/plans.js'
import { CountryService, PersonService, ProjectService, TaskService } from '../../support/gen/plans_pb.js'

/** A write that refers to a project, as JSON: the path of its HTTP route, and the request of its method. */
type Write = (projectId: string) => {
  readonly method: string
  readonly request: object
  readonly http: readonly [method: string, path: string, body: object]
}

const update = (task: object, paths: readonly string[]): ReturnType<Write> => ({
  method: 'UpdateTask',
  request: { task, updateMask: paths.join(',').replaceAll('project_id', 'projectId') },
  http: [
    ...['PATCH', `/v1/tasks/kept?update_mask=${paths.join('&update_mask=')}`],
    task,
  ] as unknown as ReturnType<Write>['http'],
})
const batch = (requests: readonly object[]): ReturnType<Write> => ({
  method: 'BatchUpdateTasks',
  request: { requests },
  http: ['POST', '/v1/tasks:batchUpdate', { requests }],
})
const item = (id: string, projectId: string) => ({ task: { id, projectId }, updateMask: 'projectId' })

const WRITES: Readonly<Record<string, Write>> = {
  'create of validate_only': (projectId) => ({
    method: 'CreateTask',
    request: { task: { id: 'new', title: 'x', projectId }, validateOnly: true },
    http: ['POST', '/v1/tasks?validate_only=true', { id: 'new', title: 'x', projectId }],
  }),
  create: (projectId) => ({
    method: 'CreateTask',
    request: { task: { id: 'new', title: 'x', projectId } },
    http: ['POST', '/v1/tasks', { id: 'new', title: 'x', projectId }],
  }),
  'masked update': (projectId) => update({ id: 'kept', projectId }, ['project_id']),
  'full update': (projectId) => update({ id: 'kept', title: 'x', projectId }, ['*']),
  'last item of a batch': (projectId) => batch([item('kept', 'hers'), item('second', projectId)]),
}

/** Each caller sees the projects of the title `all`, and those of a title that is the caller's name. */
const FORMS: Readonly<Record<string, (request: AuthorizationRequest) => Decision>> = {
  where: ({ principal }) => ({ where: filter`title = ${principal.subject} OR title = "all"` }),
  authorizeEntity: () =>
    authorizeEntity<Project>(({ title }, { principal }) => [principal.subject, 'all'].includes(title)),
  'the resource of the rule of Get': ({ resource }) =>
    ['project:hers', 'project:shared', 'project:missing', 'project:gone', 'project:foreign'].includes(
      resource,
    ),
  'nothing but false': () => false,
}

describeOn('a reference', backends, (backend) => {
  let plans: Plans
  let server: TestServer
  let decide: (request: AuthorizationRequest) => Decision | Promise<Decision> = () => true
  let asked: AuthorizationRequest[] = []
  let own: (tasks: Plans['tasks'], call: ServerCall) => Promise<object> = () => Promise.reject(new Error())

  before(async () => {
    plans = await openPlans(backend)
    server = await testServer(
      (builder) =>
        builder
          .register(CountryService, plans.countries)
          .register(PersonService, plans.persons)
          .register(ProjectService, plans.projects)
          .register(TaskService, plans.tasks, {
            planTask: supportsRowAccess(async (_request: object, call: ServerCall) => ({
              task: plans.tasks.model.toMessage((await own(plans.tasks, call)) as never),
            })) as never,
            watchTasks: () => {
              throw new TypeError('nobody calls it')
            },
          }),
      {
        gateway: { connect: true },
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
    await as('umbrella', () => plans.projects.create(aProject('foreign', { title: 'all' })))
    await inAcme(async () => {
      await plans.persons.create(aPerson('bob'))
      await plans.projects.create(aProject('hers', { title: 'ada' }))
      await plans.projects.create(aProject('shared', { title: 'all' }))
      await plans.projects.create(aProject('hidden', { title: 'bob' }))
      await plans.projects.create(aProject('gone', { title: 'all' }))
      await plans.projects.delete('gone')
      await plans.tasks.create(aTask('kept', { projectId: 'hers' }))
      await plans.tasks.create(aTask('second', { projectId: 'hers' }))
    })
    asked = []
  })

  const ofProjects =
    (decision: (request: AuthorizationRequest) => Decision) =>
    (request: AuthorizationRequest): Decision =>
      request.type === 'project' && request.verb === 'get' ? decision(request) : true
  const projectsOf = () =>
    inAcme(async () => (await plans.tasks.batchGet(['kept', 'second'])).map(({ projectId }) => projectId))
  const told = async (response: Response) => {
    const headers = [...response.headers].filter(([name]) => !/^(date|x-request-id|etag)$/.test(name))
    return JSON.stringify([response.status, headers, await response.text()])
  }
  const ada = () => server.as({ tenant: 'acme', subject: 'ada' })
  const json = { 'content-type': 'application/json' }
  const over: Readonly<Record<string, (write: ReturnType<Write>) => Promise<string>>> = {
    gRPC: async ({ method, request }) => {
      const client = ada().client(TaskService) as unknown as Record<
        string,
        (request: object) => Promise<object>
      >
      const { updateMask, ...plain } = request as { updateMask?: string; requests?: { updateMask: string }[] }
      const masked = (mask: string) => ({ paths: mask.replaceAll('projectId', 'project_id').split(',') })
      const requests = plain.requests?.map((one) => ({ ...one, updateMask: masked(one.updateMask) }))
      const sent = {
        ...plain,
        ...(updateMask === undefined ? {} : { updateMask: masked(updateMask) }),
        ...(requests && { requests }),
      }
      try {
        await client[`${method[0]?.toLowerCase()}${method.slice(1)}`]?.(sent)
        return '200'
      } catch (error) {
        return (error as Error).message
      }
    },
    HTTP: async ({ http: [method, path, body] }) =>
      told(await ada().fetch(path, { method, headers: json, body: JSON.stringify(body) })),
    Connect: async ({ method, request }) =>
      told(
        await ada().fetch(`/plans.v1.TaskService/${method}`, {
          ...{ method: 'POST', headers: json, body: JSON.stringify(request) },
        }),
      ),
  }

  for (const [form, decision] of Object.entries(FORMS))
    for (const [protocol, send] of Object.entries(over))
      it(`over ${protocol} is to a row that its caller may get, as ${form} says, and no other is told from a missing one`, async () => {
        decide = ofProjects(decision)
        for (const [name, write] of Object.entries(WRITES)) {
          const missing = await send(write('missing'))
          expect(missing, name).to.include('project_id: there is no such project')
          for (const key of ['hidden', 'foreign', 'gone'])
            expect(await send(write(key)), `${name} ${key}`).to.equal(missing)
        }
        expect(await projectsOf()).to.deep.equal(['hers', 'hers'])
        if (form.startsWith('nothing')) return
        for (const [name, write] of Object.entries(WRITES))
          expect(await send(write('shared')), name).to.match(/^(\[)?200/)
        expect(await projectsOf()).to.deep.equal(['hers', 'shared'])
      })

  for (const [form, decision] of Object.entries(FORMS))
    for (const [protocol, send] of Object.entries(over))
      it(`over ${protocol} does not come back to a row that its caller may not get, as ${form} says, and tells nothing of it`, async () => {
        await inAcme(async () => {
          for (const [key, title] of Object.entries({ buried: 'bob', closed: 'all' }))
            await plans.projects.create(aProject(key, { title }))
          for (const key of ['hidden', 'buried', 'closed', 'shared']) {
            await plans.tasks.create(aTask(`in ${key}`, { projectId: key }))
            await plans.tasks.delete(`in ${key}`)
          }
          for (const key of ['buried', 'closed']) await plans.projects.delete(key)
        })
        decide = ofProjects(decision)
        const undelete = async (project: string) => {
          const id = `in ${project}`
          const said = await send({
            method: 'UndeleteTask',
            request: { id },
            http: ['POST', `/v1/tasks/${encodeURIComponent(id)}:undelete`, {}],
          })
          return said.replaceAll(id, 'it')
        }
        const deleted = await undelete('closed')
        expect(deleted).to.match(/PRECONDITION|precondition/)
        for (const key of ['hidden', 'buried']) expect(await undelete(key), key).to.equal(deleted)
        if (form.startsWith('nothing')) expect(await undelete('shared')).to.equal(deleted)
        else expect(await undelete('shared')).to.match(/^(\[)?200/)
      })

  it('of a restricted repository is the same, in every write of a function', async () => {
    decide = ofProjects(FORMS['where'] as never)
    const writes: readonly ((key: string) => typeof own)[] = [
      (projectId) => (tasks, call) => call.restricted(tasks).create(aTask('new', { projectId })),
      (projectId) => (tasks, call) => call.restricted(tasks).update('kept', { projectId }, ['project_id']),
      (projectId) => (tasks, call) => call.restricted(tasks).modify('kept', () => ({ projectId })),
      (projectId) => async (tasks, call) =>
        (
          await call
            .restricted(tasks)
            .batchUpdate([{ key: 'kept', entity: { projectId }, fieldMask: ['project_id'] }])
        )[0] as object,
      (projectId) => (tasks, call) =>
        tasks.transaction((context) =>
          call.restricted(tasks).update('kept', { projectId }, ['project_id'], { context }),
        ),
    ]
    const plan = async () => {
      try {
        return String((await ada().client(TaskService).planTask({ id: 'kept' })).task?.projectId)
      } catch (error) {
        return (error as { details: string }).details
      }
    }
    for (const byRow of [true, false]) {
      if (!byRow) decide = ofProjects(({ resource }) => resource !== 'project:hidden')
      for (const write of writes) {
        own = write('hidden')
        expect(await plan()).to.equal('project_id: there is no such project')
      }
      expect(await projectsOf()).to.deep.equal(['hers', 'hers'])
    }
    for (const write of writes.slice(1)) {
      own = write('shared')
      expect(await plan()).to.equal('shared')
    }
    own = (tasks) => tasks.update('kept', { projectId: 'hidden' }, ['project_id'])
    expect(await plan(), 'the repository itself is not restricted').to.equal('hidden')
  })

  it('asks for the rule of the Get, with its key, once for each resource of a call', async () => {
    const questions = () => asked.map(({ method, verb, resource }) => [method.split('/')[2], verb, resource])
    await ada()
      .client(TaskService)
      .createTask({ task: { id: 'new', title: 'x', projectId: 'hers', leadId: 'bob', afterId: 'kept' } })
    expect(questions()).to.have.deep.members([
      ['CreateTask', 'create', 'task'],
      ['GetProject', 'get', 'project:hers'],
      ['GetPerson', 'get', 'person'],
      ['CreateTask', 'follow', 'task'],
    ])
    asked = []
    const requests = ['kept', 'second'].map((id) => ({
      ...{ task: { id, leadId: 'bob' }, updateMask: { paths: ['lead_id'] } },
    }))
    await ada()
      .client(TaskService)
      .batchUpdateTasks({ requests: requests as never })
    expect(questions().filter(([method]) => method === 'GetPerson')).to.have.length(1)
    asked = []
    await ada()
      .client(TaskService)
      .updateTask({
        task: { id: 'kept', title: 'y', leadId: 'bob' },
        updateMask: { paths: ['title'] } as never,
      })
    expect(questions().map(([method]) => method)).to.not.include('GetPerson')
  })

  it('needs the verb that its field names, and no get', async () => {
    decide = ({ type, verb }) => type !== 'task' || verb !== 'get'
    const follow = (afterId: string) =>
      ada()
        .client(TaskService)
        .createTask({ task: { title: 'x', afterId } })
        .then(
          () => 'made',
          (error: unknown) => (error as { details: string }).details,
        )
    expect(await follow('kept')).to.equal('made')
    decide = ({ type, verb }) =>
      type === 'task' && verb === 'follow' ? { where: filter`title = "Task kept"` } : true
    expect(await follow('kept')).to.equal('made')
    expect(await follow('second')).to.equal('after_id: there is no such after')
    decide = ({ verb }) => verb !== 'follow'
    expect(await follow('kept')).to.equal('after_id: there is no such after')
  })
})
