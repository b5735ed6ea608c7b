import { expect } from 'chai'
import type { ServerCall } from '../../../lib/call.js'
import { InvalidArgument } from '../../../lib/errors.js'
import type { Patch } from '../../../lib/resource/values/increment.js'
import type { NewEntity } from '../../../lib/resource/new-entity-of.js'
import { MemoryDatabase } from '../../../lib/persistence/memory/memory-database.js'
import { memoryRepositoryOf } from '../../../lib/persistence/repository-of.js'
import type { OperationOptions, UpdateOptions } from '../../../lib/persistence/contract/repository.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import { newDev } from '../../../lib/secrets/dev-encryptor.js'
import type { Authorizer } from '../../../lib/server/authz/authorizer.js'
import { roleAuthorizer } from '../../../lib/server/authz/role-authorizer.js'
import { supportsRowAccess } from '../../../lib/server/chain/handler.js'
import { wrapped } from '../../../lib/server/methods/wrapped.js'
import { testServer, type TestServer } from '../../../lib/testing/harness/test-server.js'
import { aProject, aTask, inAcme } from '../../conformance/related/plans.js'
import { Country, Person, Project, Task } from '../../support/entities/plans.js'
import { CountryService, PersonService, ProjectService, TaskService } from '../../support/gen/plans_pb.js'

class PassingTasks extends memoryRepositoryOf(Task) {
  override create(entity: NewEntity<Task>, options?: OperationOptions): Promise<Task> {
    return super.create({ ...entity, title: `${entity.title}!` }, options)
  }
}

/** Moves each task to a project of its own choice, also in the entity that it is given. */
class AssigningTasks extends memoryRepositoryOf(Task) {
  override create(entity: NewEntity<Task>, options?: OperationOptions): Promise<Task> {
    return super.create(Object.assign(entity, { projectId: 'hidden' }), options)
  }

  override update(...given: never[]): Promise<Task> {
    const [key, entity, , options] = given as unknown as [string, object, unknown, UpdateOptions]
    return super.update(
      key,
      { ...entity, projectId: 'hidden' } as Patch<Task>,
      ['title', 'projectId'],
      options,
    )
  }
}

class DroppingTasks extends memoryRepositoryOf(Task) {
  override create(entity: NewEntity<Task>, options?: OperationOptions): Promise<Task> {
    return super.create(entity, options?.context && { context: options.context })
  }

  override update(
    key: string,
    entity: Patch<Task>,
    mask: readonly string[] = [],
    options?: UpdateOptions,
  ): Promise<Task> {
    return super.update(key, entity, mask as never, options?.context && { context: options.context })
  }
}

const byTitle: Authorizer = {
  decidesByRow: true,
  authorize: ({ type, principal }) =>
    type === 'project' ? { where: filter`title = ${principal.subject}` } : true,
}

describe('a write that refers to other resources', () => {
  let server: TestServer
  let tasks: InstanceType<typeof PassingTasks>

  const open = async (
    authorizer: Authorizer,
    Tasks: new (options: { database: MemoryDatabase }) => InstanceType<typeof PassingTasks> = PassingTasks,
    implementation: object = {},
  ) => {
    const database = new MemoryDatabase()
    const options = { database, encryptor: newDev(Buffer.alloc(32, 7)) }
    const projects = new (memoryRepositoryOf(Project))(options)
    const persons = new (memoryRepositoryOf(Person))(options)
    tasks = new Tasks(options)
    const nobody = () => {
      throw new TypeError('nobody calls it')
    }
    server = await testServer(
      (builder) =>
        builder
          .register(CountryService, new (memoryRepositoryOf(Country))(options))
          .register(PersonService, persons)
          .register(ProjectService, projects)
          .register(TaskService, tasks as never, {
            planTask: nobody,
            watchTasks: nobody,
            ...(implementation as object),
          }),
      { authorizer, explainDenials: true },
    )
    await inAcme(async () => {
      await projects.create(aProject('hers', { title: 'ada' }))
      await projects.create(aProject('hidden', { title: 'bob' }))
      await tasks.create(aTask('kept', { projectId: 'hers' }))
    })
    return { persons }
  }
  afterEach(() => server?.stop())

  const ada = () => server.as({ tenant: 'acme', subject: 'ada' })
  const outcome = (call: Promise<object>) =>
    call.then(
      () => 'done',
      (error: unknown) => (error as { details: string }).details,
    )
  const create = (projectId: string) =>
    outcome(
      ada()
        .client(TaskService)
        .createTask({ task: { id: projectId, title: 'x', projectId } }),
    )
  const update = (projectId: string, path = 'project_id') =>
    outcome(
      ada()
        .client(TaskService)
        .updateTask({ task: { id: 'kept', title: 'y', projectId }, updateMask: { paths: [path] } as never }),
    )
  const MISSING = 'project_id: there is no such project'

  it('is not held to its caller if an override sets the reference', async () => {
    await open(byTitle, AssigningTasks)
    expect([await create('hers'), await update('hers', 'title')]).to.deep.equal(['done', 'done'])
    for (const key of ['hers', 'kept'])
      expect((await inAcme(() => tasks.get(key))).projectId, key).to.equal('hidden')
    expect([await create('hidden'), await update('hidden')]).to.deep.equal([MISSING, MISSING])
  })

  it('is held to its caller where an overridden operation passes its options on', async () => {
    await open(byTitle)
    expect([await create('hidden'), await create('hers')]).to.deep.equal([MISSING, 'done'])
    expect((await inAcme(() => tasks.get('hers'))).title).to.equal('x!')
  })

  it('is taken back where an overridden operation leaves them out, and the log says which', async () => {
    const plan = supportsRowAccess(async (_: object, call: ServerCall) => ({
      task: tasks.model.toMessage(
        (await call.restricted(tasks).modify('kept', () => ({ projectId: 'hidden' }))) as never,
      ),
    }))
    await open(byTitle, DroppingTasks, { planTask: plan })
    for (const key of ['hidden', 'hers', 'missing']) expect(await create(key)).to.equal('internal error')
    expect(await update('hidden')).to.equal('internal error')
    expect(await outcome(ada().client(TaskService).planTask({ id: 'kept' }))).to.equal('internal error')
    expect(JSON.stringify(server.logs.records)).to.include('DroppingTasks.create left out `references`')
    // The repository does not get the reference that the mask leaves out.
    expect(await update('hidden', 'title')).to.equal('done')
    const { items } = await inAcme(() => tasks.list())
    expect(items.map(({ id, projectId }) => [id, projectId])).to.deep.equal([['kept', 'hers']])
  })

  it('returns what an override throws before it calls the operation', async () => {
    class Rejecting extends PassingTasks {
      override create(entity: NewEntity<Task>, options?: OperationOptions): Promise<Task> {
        if (entity.id === 'kept') return super.create(entity, options)
        throw new InvalidArgument('title', 'the title is not allowed')
      }
      override update(): Promise<never> {
        return Promise.reject(new InvalidArgument('', 'the task is closed'))
      }
    }
    await open(byTitle, Rejecting)
    expect(await create('hidden')).to.equal('title: the title is not allowed')
    expect(await update('hidden')).to.include('the task is closed')
  })

  it('goes on as before where an overridden operation leaves them out and nothing holds the caller', async () => {
    await open({ authorize: () => true }, DroppingTasks)
    expect([await create('hidden'), await update('hidden')]).to.deep.equal(['done', 'done'])
  })

  it('is held to its caller where a function is wrapped around it', async () => {
    await open(byTitle, PassingTasks, {
      createTask: wrapped({}, (request, _call, standard) => standard(request)),
      updateTask: wrapped({ transaction: true }, (request, _call, standard) => standard(request)),
    })
    expect([await create('hidden'), await create('hers')]).to.deep.equal([MISSING, 'done'])
    expect([await update('hidden'), await update('hers')]).to.deep.equal([MISSING, 'done'])
  })

  it('may refer to what everybody may get', async () => {
    const plan = supportsRowAccess(async (_: object, call: ServerCall) => {
      await call.restricted(opened.persons).create({ id: 'p', title: '', password: '', countryId: 'none' })
      return {}
    })
    const opened = await open({ authorize: ({ type }) => type === 'task' }, PassingTasks, { planTask: plan })
    expect(await outcome(ada().client(TaskService).planTask({ id: 'kept' }))).to.equal(
      'country_id: there is no such country',
    )
  })

  describe('with roles', () => {
    const withRole = (...permissions: readonly { readonly verbs: string[]; readonly resource: string }[]) =>
      open(
        roleAuthorizer({
          roles: { planner: [{ verbs: ['create', 'update'], resource: 'task' }, ...permissions] },
          bindings: [{ tenant: 'acme', subjects: ['ada'], roles: ['planner'] }],
        }),
      )

    it('needs the permission of the Get, and the developer is told', async () => {
      await withRole()
      const body = JSON.stringify({ id: 'new', title: 'x', projectId: 'hers' })
      const response = await ada().fetch('/v1/tasks', {
        ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body },
      })
      expect(((await response.json()) as { message: string }).message).to.equal(MISSING)
      expect(response.headers.get('x-denied-because')).to.match(
        /^project_id: no role allows get on project:hers/,
      )
    })

    it('is done with that permission', async () => {
      await withRole({ verbs: ['get'], resource: 'project' })
      expect(await create('hidden')).to.equal('done')
    })

    it('may have the verb that a field names, and on no other resource', async () => {
      await withRole({ verbs: ['follow'], resource: 'task' })
      const after = ada()
        .client(TaskService)
        .createTask({ task: { title: 'x', afterId: 'kept' } })
      expect(await outcome(after)).to.equal('done')
      const error = await withRole({ verbs: ['follow'], resource: 'project' }).then(
        () => undefined,
        (failure: unknown) => failure as Error,
      )
      expect(error?.message).to.include('follow')
    })
  })
})
