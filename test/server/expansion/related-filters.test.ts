import { expect } from 'chai'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import type { AuthorizationRequest } from '../../../lib/server/authz/authorizer.js'
import { authorizeEntity, type Decision } from '../../../lib/server/authz/decision.js'
import { wrapped } from '../../../lib/server/methods/wrapped.js'
import { testServer, type TestServer } from '../../../lib/testing/harness/test-server.js'
import {
  aPerson,
  aProject,
  as,
  aStep,
  aTask,
  inAcme,
  openPlans,
  type Plans,
  sentBy,
} from '../../conformance/related/plans.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { Project } from '../../support/entities/plans.js'
import { Phase } from '../../support/gen/plans_pb.js'
import {
  CountryService,
  PersonService,
  ProjectService,
  StepService,
  TaskService,
} from '../../support/gen/plans_pb.js'

const DEADLINE_EXCEEDED = 4

interface Listing {
  readonly filter?: string
  readonly orderBy?: string
  readonly pageSize?: number
  readonly pageToken?: string
  readonly showDeleted?: boolean
}

/** What a list came to: the ids, and how many there are on all pages; or the text of the error. */
const told = async (call: Promise<{ tasks: readonly { id: string }[]; totalSize: number }>) => {
  try {
    const { tasks, totalSize } = await call
    return `${tasks.map(({ id }) => id).join(' ')} of ${totalSize}`
  } catch (error) {
    return (error as { details: string }).details
  }
}

/** A hint is about the fields of the task, by the name alone. */
const withoutHint = (text: string): string => text.replace(/;.*/, '')

const unserved = () => {
  throw new TypeError('nobody calls it')
}

describeOn('filters and orders of a List over relations', backends, (backend) => {
  let plans: Plans
  let server: TestServer
  let decide: (request: AuthorizationRequest) => Decision | Promise<Decision> = () => true
  let asked: AuthorizationRequest[] = []

  before(async () => {
    plans = await openPlans(backend)
    server = await testServer(
      (builder) =>
        builder
          .register(CountryService, plans.countries)
          .register(PersonService, plans.persons)
          .register(ProjectService, plans.projects)
          .register(StepService, plans.steps)
          .register(TaskService, plans.tasks, {
            planTask: unserved,
            watchTasks: unserved,
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
      await plans.persons.create(aPerson('bob'))
      await plans.projects.create(aProject('p1', { ownerId: 'ada', apiKey: 'canary' as never }))
      await plans.projects.create(aProject('p2', { ownerId: 'bob', phase: Phase.CLOSED }))
      await plans.tasks.create(aTask('t1', { projectId: 'p1', leadId: 'bob' }))
      await plans.tasks.create(aTask('t2', { projectId: 'p1', afterId: 't1' }))
      await plans.tasks.create(aTask('t3', { projectId: 'p2', leadId: 'ada' }))
      await plans.tasks.create(aTask('t4'))
      await plans.steps.create(aStep('s1', 't1', { title: 'dig', done: true }))
      await plans.steps.create(aStep('s2', 't1', { title: 'fill' }))
      await plans.steps.create(aStep('s3', 't2', { title: 'digger' }))
    })
    asked = []
  })

  const ada = () => server.as({ tenant: 'acme', subject: 'ada' })
  const tasks = (listing: Listing) => ada().client(TaskService).listTasks(listing)
  const over = async (listing: Listing, who = ada()): Promise<string> => {
    const query = new URLSearchParams(
      Object.entries(listing).map(([name, value]) => [name, String(value)] as [string, string]),
    )
    const overGrpc = await told(who.client(TaskService).listTasks(listing))
    const response = await who.fetch(`/v1/tasks?${query.toString()}`)
    const json = (await response.json()) as {
      tasks?: { id: string }[]
      totalSize?: number
      message?: string
    }
    const overHttp = response.ok
      ? await told(Promise.resolve({ tasks: json.tasks ?? [], totalSize: json.totalSize ?? 0 }))
      : json.message
    expect(overHttp).to.equal(overGrpc)
    return overGrpc
  }
  const filtered = (text: string, more: Listing = {}) => over({ filter: text, ...more })
  const ordered = (orderBy: string) => over({ orderBy })
  const questions = () =>
    asked.map(({ method, verb, resource }) => `${method.split('/')[2]} ${verb} ${resource}`)

  it('find what a resource refers to, what refers to it, and what those refer to', async () => {
    const rows: readonly (readonly [text: string, ids: string])[] = [
      ['project.phase = ACTIVE', 't1 t2 of 2'],
      ['project.owner.title = "Person bob"', 't3 of 1'],
      ['project:*', 't1 t2 t3 of 3'],
      ['project = null', 't4 of 1'],
      ['NOT project.phase = ACTIVE', 't3 of 1'],
      ['steps:*', 't1 t2 of 2'],
      ['NOT steps:*', 't3 t4 of 2'],
      ['steps.title:"dig"', 't1 of 1'],
      ['steps.done = true OR after.title = "Task t1"', 't1 t2 of 2'],
      ['project.tasks.lead.title = "Person bob"', 't1 t2 of 2'],
      ['project . title = "Project p2"', 't3 of 1'],
    ]
    for (const [text, ids] of rows) expect(await filtered(text), text).to.equal(ids)
    expect(await ordered('project.title desc, title')).to.equal('t4 t3 t1 t2 of 4')
    expect(await ordered('lead.title,project.owner.title desc')).to.equal('t3 t1 t4 t2 of 4')
  })

  it('go on from page to page, in the order of the other resource', async () => {
    const walked: string[] = []
    let pageToken = ''
    do {
      const page = await tasks({ orderBy: 'project.title desc, title', pageSize: 1, pageToken })
      walked.push(...page.tasks.map(({ id }) => id))
      expect(page.totalSize).to.equal(4)
      pageToken = page.nextPageToken
    } while (pageToken !== '')
    expect(walked).to.deep.equal(['t4', 't3', 't1', 't2'])
  })

  it('ask as the List of each other resource is asked, once, and nothing where no relation is named', async () => {
    await tasks({ filter: 'title = "project.title steps" AND project_id = "p1"', orderBy: 'lead_id' })
    expect(questions()).to.deep.equal(['ListTasks list task'])
    asked = []
    await tasks({
      filter: 'NOT (project.owner.title = "x" OR lead.title = "y") AND NOT steps:*',
      orderBy: 'project.title, lead.title',
    })
    expect(questions()).to.deep.equal([
      'ListTasks list task',
      'ListProjects list project',
      'ListPersons list person',
      'ListSteps list step',
    ])
    expect(asked.every(({ principal, type }) => principal.subject === 'ada' && type !== '')).to.equal(true)
  })

  it('cost one statement, and one for the total', async () => {
    const sent = await sentBy(plans, () =>
      tasks({ filter: 'project.phase = ACTIVE AND steps:*', orderBy: 'lead.title', pageSize: 1 }),
    )
    // SQLite reads the sizes of the rows first.
    if (sent !== undefined) expect(sent).to.have.length(backend.name === 'sqlite' ? 3 : 2)
  })

  it('know no field of what the caller may not list, as of what nobody lists, and ask for nothing behind it', async () => {
    decide = ({ type, verb }) => !(type === 'project' && verb === 'list')
    const unknown = (name: string) => new RegExp(`filter: unknown field "${name}" at position 1`)
    expect(await filtered('project.title = "Project p1"')).to.match(unknown('project.title'))
    expect(await filtered('project.owner.title = "x"')).to.match(unknown('project.owner.title'))
    expect(questions().filter((one) => one.includes('person'))).to.deep.equal([])
    expect(await ordered('project.title')).to.match(/order_by: unknown field "project.title"/)
    expect(await filtered('steps:*')).to.equal('t1 t2 of 2')
    // Nobody lists countries, and a badge has no message.
    decide = () => true
    expect(await filtered('lead.country.title = "x"')).to.match(unknown('lead.country.title'))
    expect(await filtered('lead.badge.color = "x"')).to.match(unknown('lead.badge.color'))
    // A word of the same letters that is no relation at all.
    decide = ({ type }) => type === 'task'
    for (const [name, other] of [
      ['project', 'qroject'],
      ['steps', 'stepz'],
    ] as const)
      for (const text of ['NAME:*', 'NAME.title = "x"', 'NAME = null', 'a AND NAME.x.y > 3', 'NAME.title'])
        expect(withoutHint(await filtered(text.replace('NAME', name))), text).to.equal(
          withoutHint(await filtered(text.replace('NAME', other))).replaceAll(other, name),
        )
  })

  it('see only the rows that a decision by row allows, in filters, orders, totals, and what is not there', async () => {
    decide = ({ type }) => (type === 'project' ? { where: filter`title = ${'Project p2'}` } : true)
    expect(await filtered('project.title = "Project p1"')).to.equal(' of 0')
    expect(await filtered('project:*')).to.equal('t3 of 1')
    expect(await filtered('project = null')).to.equal('t1 t2 t4 of 3')
    expect(await filtered('NOT project.phase = CLOSED')).to.equal(' of 0')
    expect(await filtered('project.owner.title = "Person ada"')).to.equal(' of 0')
    expect(await ordered('project.title, id desc')).to.equal('t3 t4 t2 t1 of 4')
    decide = ({ type }) => (type === 'step' ? { where: filter`title != ${'dig'}` } : true)
    expect(await filtered('steps.done = true')).to.equal(' of 0')
    expect(await filtered('steps:*')).to.equal('t1 t2 of 2')
    // What the caller may list of tasks holds for the tasks behind a project as well.
    decide = ({ type }) => (type === 'task' ? { where: filter`id != ${'t1'}` } : true)
    expect(await filtered('project.tasks.lead.title = "Person bob"')).to.equal(' of 0')
    expect(await filtered('after:*')).to.equal(' of 0')
    expect(await filtered('after = null')).to.equal('t2 t3 t4 of 3')
  })

  it('take the predicate of authorizeEntity, and are an error of the server without one', async () => {
    decide = ({ type }) =>
      type === 'project'
        ? authorizeEntity<Project>(() => false, { where: filter`title = ${'Project p2'}` })
        : true
    expect(await filtered('project:*')).to.equal('t3 of 1')
    decide = ({ type }) => (type === 'project' ? authorizeEntity<Project>(() => true) : true)
    expect(await filtered('project:*')).to.match(/internal/i)
    expect(await filtered('title:"Task"')).to.equal('t1 t2 t3 t4 of 4')
  })

  it('fail closed where the authorizer fails, or never decides', async () => {
    decide = ({ type }) => {
      if (type === 'project') throw new RangeError('a canary')
      return true
    }
    expect(await filtered('project:*')).to.equal('internal error')
    decide = ({ type }) => (type === 'project' ? new Promise<Decision>(() => {}) : true)
    const deadline = new Date(Date.now() + 300)
    const grpc = new ForeignClient(TaskService, server.grpcAddress)
    const who = { 'account-id': 'acme', subject: 'ada' }
    const { code } = await grpc.unary('ListTasks', { filter: 'project:*' }, who, { deadline })
    grpc.close()
    expect(code).to.equal(DEADLINE_EXCEEDED)
  })

  it('see nothing of another tenant, nothing that is deleted, and no secret', async () => {
    await as('globex', async () => {
      await plans.projects.create(aProject('p1', { title: 'theirs' }))
      await plans.tasks.create(aTask('t1', { projectId: 'p1' }))
      await plans.tasks.create(aTask('t4'))
      await plans.steps.create(aStep('s9', 't4', { title: 'theirs' }))
    })
    expect(await filtered('project.title = "theirs" OR steps.title = "theirs"')).to.equal(' of 0')
    expect(await filtered('NOT steps:*')).to.equal('t3 t4 of 2')
    await plans.edit(Project, 'p2', { deleteTime: '2030-01-01 00:00:00' })
    expect(await filtered('project:*', { showDeleted: true })).to.equal('t1 t2 of 2')
    expect(await filtered('project.api_key = "canary"')).to.match(/unknown field "project.api_key"/)
    expect(await filtered('lead.password = "hidden"')).to.match(/password" cannot be filtered/)
    expect(await ordered('lead.password')).to.match(/password" cannot be sorted by/)
    const nowhere = server.as({ tenant: '', subject: 'eve' })
    expect(await over({ filter: 'project:*' }, nowhere)).to.match(/the call has no tenant/)
  })

  it('refuse a page token where the relation may not be named any more, and of another order', async () => {
    const { nextPageToken } = await tasks({ orderBy: 'project.title', pageSize: 1 })
    expect(await over({ orderBy: 'lead.title', pageToken: nextPageToken })).to.match(/page_token/)
    const theirs = server.as({ tenant: 'globex', subject: 'ada' })
    expect(await over({ orderBy: 'project.title', pageToken: nextPageToken }, theirs)).to.match(/page_token/)
    decide = ({ type }) => (type === 'project' ? { where: filter`title = ${'nobody'}` } : true)
    expect(await over({ orderBy: 'project.title', pageToken: nextPageToken })).to.match(/ of 4$/)
    decide = ({ type }) => type === 'task'
    expect(await over({ orderBy: 'project.title', pageToken: nextPageToken })).to.match(/unknown field/)
  })

  it('are bounded, and keep what no column can hold out of statements', async () => {
    const nested = `${'('.repeat(60)}project.title = "Project p1"${')'.repeat(60)}`
    expect(await filtered(nested)).to.equal('t1 t2 of 2')
    expect(await filtered(Array.from({ length: 100 }, () => 'project.title = "x"').join(' OR '))).to.equal(
      ' of 0',
    )
    expect(await filtered(Array.from({ length: 8 }, () => 'steps:*').join(' '))).to.equal('t1 t2 of 2')
    expect(await filtered(Array.from({ length: 9 }, () => 'steps:*').join(' '))).to.match(/exceeds the 8/)
    expect(await filtered('after.after.after.after.title = "x"')).to.match(/unknown field/)
    expect(await filtered('project.title = "a\\u0000"')).to.match(/NUL/)
    expect(await filtered('project.title = "a\0"')).to.match(/NUL/)
    expect(await filtered('project.title = "')).to.match(/unterminated string/)
    const long = (listing: Listing) => told(tasks(listing))
    expect(await long({ filter: `project.title = "${'x'.repeat(100_000)}"` })).to.match(/longer than 4096/)
    expect(await long({ orderBy: 'project.title,'.repeat(100_000) })).to.match(/longer than 4096/)
  })

  it('hold what a wrapped function asks to the same decisions, and do not go around one', async () => {
    let text = 'project:*'
    const own = await testServer(
      (builder) =>
        builder
          .register(CountryService, plans.countries)
          .register(PersonService, plans.persons)
          .register(ProjectService, plans.projects)
          .register(TaskService, plans.tasks, {
            planTask: unserved,
            watchTasks: unserved,
            listTasks: wrapped({}, (request, _call, standard) => standard({ ...request, filter: text })),
          }),
      { authorizer: { decidesByRow: true, authorize: (request) => decide(request) } },
    )
    try {
      const all = () => told(own.as({ tenant: 'acme', subject: 'ada' }).client(TaskService).listTasks({}))
      decide = ({ type }) => (type === 'project' ? { where: filter`title = ${'Project p2'}` } : true)
      expect(await all()).to.equal('t3 of 1')
      decide = ({ type }) => type !== 'project'
      expect(await all()).to.match(/unknown field "project"/)
      decide = () => true
      // What the function does for tasks would be gone around, and nobody lists steps here.
      for (text of ['after:*', 'project.tasks:*', 'steps:*']) expect(await all()).to.match(/unknown field/)
    } finally {
      await own.stop()
    }
  })
})
