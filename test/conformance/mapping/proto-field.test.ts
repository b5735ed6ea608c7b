import { expect } from 'chai'
import { status } from '@grpc/grpc-js'
import { RequestContext } from '../../../lib/context.js'
import { InvalidArgument } from '../../../lib/errors.js'
import { MemoryDatabase } from '../../../lib/persistence/memory/memory-database.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { type EntityClass, resourceModel } from '../../../lib/resource/resource-model.js'
import { CredentialMinter } from '../../../lib/secrets/credential-minter.js'
import { newDev } from '../../../lib/secrets/dev-encryptor.js'
import type { ServerBuilder } from '../../../lib/server/server-builder.js'
import { type Backend, backends, describeOn, coalesced } from '../../support/databases/backends.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import { Badge, Country, Person, Project, Step, Task } from '../../support/entities/plans.js'
import {
  CountryService,
  PersonService,
  ProjectService,
  StepService,
  TaskService,
} from '../../support/gen/plans_pb.js'
import { SpecimenService } from '../../support/gen/specimens_pb.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { rejection } from '../../support/rejection.js'
import { ALICE, startServer } from '../../support/servers/server.js'
import { collated } from '../repository/open-subject.js'
import { Chore, Human, Land, Move, Plain, Renamed, Venture } from './renamed.js'

type Repositories = <E extends object>(entity: EntityClass<E>) => Repository<E>

interface StoredEvent {
  readonly payload: Buffer
}

interface Served {
  readonly repositories: Repositories
  readonly grpc: string
  /** What an HTTP request comes to, without what differs between two servers. */
  call(method: string, path: string, body?: object): Promise<unknown>
  events(): Promise<readonly unknown[]>
  stop(): Promise<void>
}

const unserved = () => {
  throw new TypeError('nobody calls it')
}

async function serve(
  backend: Backend,
  entities: readonly EntityClass<object>[],
  register: (builder: ServerBuilder, of: Repositories) => void,
): Promise<Served> {
  const { dataSource, database, close } = await backend.open(entities)
  if (dataSource !== undefined && database !== undefined) {
    await applyBaseline(dataSource)
    await createTables(collated(dataSource, backend), entities, database.dialect.name)
  }
  const memory = new MemoryDatabase()
  const options = { minter: new CredentialMinter(), encryptor: newDev(Buffer.alloc(32, 7)) }
  const made = new Map<unknown, unknown>()
  const repositories: Repositories = (entity) => {
    if (!made.has(entity))
      made.set(
        entity,
        dataSource === undefined
          ? new (memoryRepositoryOf(entity))({ ...options, database: memory })
          : new (repositoryOf(entity))(dataSource, options),
      )
    return made.get(entity) as never
  }
  const running = await startServer((builder) => register(builder, repositories))
  return {
    repositories,
    grpc: running.grpc,
    call: async (method, path, body) => {
      const response = await fetch(`${running.http}/v1/${path}`, {
        method,
        headers: { ...ALICE, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const json: unknown = await response.json()
      return [response.status, response.headers.has('etag'), plain(json)]
    },
    events: async () => {
      const texts =
        dataSource === undefined
          ? [...memory.outbox.events.values()].map(({ payload }) => payload.toString())
          : (await dataSource.query<StoredEvent[]>('SELECT payload FROM outbox ORDER BY position')).map(
              ({ payload }) => payload.toString(),
            )
      return texts.map((text) => plain((JSON.parse(text) as { data: unknown }).data))
    },
    stop: async () => {
      await running.stop()
      await close()
    },
  }
}

/** Without times, tokens, etags and ids of requests; hints in an order of their own. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (name, one: unknown) => {
      if (typeof one !== 'string') return one
      if (/^(etag|apiKey|nextPageToken|requestId)$/.test(name)) return one === '' ? '' : '*'
      return one
        .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'T')
        .replace(/; valid: (.*)$/, (_, names: string) => names.split(', ').sort().join(' '))
    }),
  )

const SPECIMEN = {
  ...{ title: 'Slate', note: 'n', active: true, count: 2, weight: 3, big: '-4', huge: '5', ratio: 0.5 },
  ...{ score: 1.5, blob: 'AQI=', phase: 'CUT', dueTime: '2026-01-01T00:00:00Z', span: '3.5s', rank: 7 },
  ...{ labels: ['a', 'b'], origin: { quarry: 'q', depth: '6', crew: ['c'] }, tags: { color: 'red' } },
  ...{ webhookSecret: 'whsec', serial: 'dropped', createTime: '2000-01-01T00:00:00Z', accountId: 'other' },
}

/** Each is the same request to two servers. */
const SPECIMEN_CALLS: readonly (readonly [method: string, path: string, body?: object])[] = [
  ['POST', 'specimens?specimen_id=a', { ...SPECIMEN, code: 'c-a' }],
  ['POST', 'specimens?specimen_id=b', { ...SPECIMEN, code: 'c-b', title: 'Chalk', count: 1 }],
  ['POST', 'specimens?specimen_id=z', { ...SPECIMEN, code: 'c-a' }],
  ['POST', 'specimens?specimen_id=a', { ...SPECIMEN, code: 'c-c' }],
  ['POST', 'specimens?specimen_id=z', { ...SPECIMEN, code: 'c-z', title: 'x'.repeat(101) }],
  ['POST', 'specimens?specimen_id=z', { heading: 'x' }],
  ['GET', 'specimens/a'],
  ['GET', 'specimens/a?read_mask=title,createTime,serial'],
  ['GET', 'specimens/a?read_mask=heading'],
  ['GET', 'specimens?order_by=count'],
  ['GET', 'specimens?order_by=create_time%20desc,title&page_size=1'],
  ['GET', 'specimens?order_by=pieces'],
  ['GET', 'specimens?order_by=created_at'],
  ...[
    'title = "Slate"',
    'create_time > "2020-01-01T00:00:00Z" AND count < 2',
    'id = "a"',
    'tags.color = "red"',
    'origin.quarry = "q"',
    'labels:"a"',
    'phase = CUT',
    'big = -4',
    'heading = "Slate"',
    'created_at > "2020-01-01T00:00:00Z"',
    'webhook_secret = "whsec"',
    'hook_password = "whsec"',
    'serial = "a/Slate"',
    'delete_time != null',
    'account_id = "acme"',
  ].map((filter) => ['GET', `specimens?filter=${encodeURIComponent(filter)}`] as const),
  ['GET', 'specimens?q=chalk'],
  ['PATCH', 'specimens/a?update_mask=title,tags,webhook_secret', { title: 'Marble', webhookSecret: 'new' }],
  ['PATCH', 'specimens/a?update_mask=create_time', { createTime: '2000-01-01T00:00:00Z' }],
  ['PATCH', 'specimens/a?update_mask=serial', { serial: 'x' }],
  ['PATCH', 'specimens/a?update_mask=api_key', { apiKey: 'x' }],
  ['PATCH', 'specimens/a?update_mask=heading', { title: 'x' }],
  ['PATCH', 'specimens/b?update_mask=*', { title: 'Flint', code: 'c-b' }],
  ['PATCH', 'specimens/b?update_mask=code', { code: 'c-a' }],
  ['POST', 'specimens:batchUpdate', { requests: [{ specimen: { id: 'b', count: 9 }, updateMask: 'count' }] }],
  ['GET', 'specimens:batchGet?ids=b&ids=a'],
  ['DELETE', 'specimens/a'],
  ['GET', 'specimens/a'],
  ['GET', 'specimens?show_deleted=true&order_by=id'],
  ['POST', 'specimens/a:undelete', {}],
  ['PATCH', 'specimens/a?update_mask=title&validate_only=true', { title: 'Dry' }],
]

const TASK_CALLS: readonly (readonly [method: string, path: string, body?: object])[] = [
  ['GET', 'projects/p1'],
  ['GET', 'projects/p1?read_mask=owner,title'],
  ['GET', `projects?filter=${encodeURIComponent('owner.title = "Ada"')}`],
  ['GET', `projects?filter=${encodeURIComponent('owner_id = "ada"')}`],
  ['GET', `projects?filter=${encodeURIComponent('holder.title = "Ada"')}`],
  ['POST', 'tasks', { id: 't1', title: 'dig', projectId: 'p1', leadId: 'ada' }],
  ['POST', 'tasks', { id: 't2', title: 'fill', projectId: 'p1', afterId: 't1' }],
  ['POST', 'tasks', { id: 't3', title: 'no', projectId: 'missing' }],
  ['POST', 'tasks', { id: 't3', title: 'no', leadId: 'missing' }],
  ['GET', 'tasks/t2?read_mask=project.owner,after,title'],
  ['GET', 'tasks/t2?read_mask=venture'],
  ['GET', `tasks?filter=${encodeURIComponent('project.owner.title = "Ada" AND title = "dig"')}`],
  ['GET', `tasks?filter=${encodeURIComponent('venture.title = "x"')}`],
  ['GET', `tasks?filter=${encodeURIComponent('steps.title = "s"')}`],
  ['GET', `tasks?filter=${encodeURIComponent('moves.title = "s"')}`],
  ['GET', `tasks?order_by=${encodeURIComponent('lead.title desc,title')}`],
  ['GET', `steps?filter=${encodeURIComponent('task.title = "dig"')}`],
  ['GET', `steps?filter=${encodeURIComponent('task_id = "t1"')}`],
  ['PATCH', 'tasks/t1?update_mask=project_id', { projectId: 'missing' }],
  ['PATCH', 'tasks/t1?update_mask=venture_key', { projectId: 'missing' }],
  ['PATCH', 'tasks/t1?update_mask=project', {}],
  ['PATCH', 'tasks/t1?update_mask=lead_id', { leadId: null }],
  ['GET', 'tasks/t1'],
]

const asAda = <T>(fn: () => Promise<T>): Promise<T> =>
  RequestContext.as({ tenant: 'acme', subject: 'ada' }, fn)

const SPECIMENS = (entity: EntityClass<object>) => (builder: ServerBuilder, of: Repositories) =>
  builder.register(SpecimenService, of(entity), { weighSpecimen: unserved })

describeOn('fields whose properties are called otherwise', [...backends, ...coalesced], (backend) => {
  it('behave like any other field in calls, errors and events', async () => {
    const [same, other] = await Promise.all([
      serve(backend, [Plain], SPECIMENS(Plain)),
      serve(backend, [Renamed], SPECIMENS(Renamed)),
    ])
    try {
      for (const call of SPECIMEN_CALLS)
        expect(await other.call(...call), call.slice(0, 2).join(' ')).to.deep.equal(await same.call(...call))
      expect(await other.events()).to.deep.equal(await same.events())
      const clients = [same, other].map(({ grpc }) => new ForeignClient(SpecimenService, grpc))
      const specimen = { id: 'a', title: 'no' }
      const answers = await Promise.all(
        clients.flatMap((client) => [
          client.unary('UpdateSpecimen', { specimen, update_mask: { paths: ['created_at'] } }, ALICE),
          client.unary('UpdateSpecimen', { specimen, update_mask: { paths: ['heading'] } }, ALICE),
          client.unary(
            'BatchUpdateSpecimens',
            { requests: [{ specimen, update_mask: { paths: ['heading'] } }] },
            ALICE,
          ),
        ]),
      )
      for (const client of clients) client.close()
      expect(answers.map(({ code }) => code)).to.deep.equal(answers.map(() => status.INVALID_ARGUMENT))
      const details = answers.map((one) => one.details)
      expect(details.slice(3)).to.deep.equal(details.slice(0, 3))
    } finally {
      await same.stop()
      await other.stop()
    }
  })

  it('are properties in entities, and accept both names in masks and sort orders of code', async () => {
    const served = await serve(backend, [Renamed], SPECIMENS(Renamed))
    try {
      await asAda(async () => {
        const renamed = served.repositories(Renamed)
        const made = await renamed.create({ key: 'a', heading: 'Slate', mark: 'm', pieces: 1 })
        expect(made).to.include({ accountId: 'acme', heading: 'Slate', series: 'a/Slate' })
        expect([made.createdAt, made.updatedAt, made.expiresAt].every((one) => one instanceof Date)).to.equal(
          true,
        )
        expect(made.version).to.not.equal('')
        await renamed.create({ key: 'b', heading: 'Chalk', mark: 'n', pieces: 2 })
        await renamed.update('a', { heading: 'Marble' }, ['heading'])
        const changed = await renamed.update('a', { heading: 'Flint', pieces: 3 }, ['title', 'pieces'])
        expect(changed).to.include({ heading: 'Flint', pieces: 3 })
        await renamed.modify('a', ({ pieces }) => ({ pieces: pieces + 1 }))
        const orders = [
          [{ pieces: 'desc' }],
          [{ count: 'desc' }],
          ['created_at', { heading: 'desc' }],
          'count desc',
        ]
        for (const orderBy of orders)
          expect(
            (await renamed.list({ orderBy: orderBy as never })).items.map(({ key }) => key),
          ).to.have.length(2)
        const { items } = await renamed.list({ orderBy: [{ pieces: 'desc' }] as never })
        expect(items.map(({ pieces }) => pieces)).to.deep.equal([4, 2])
        await rejection(renamed.list({ orderBy: 'pieces' }), InvalidArgument, /unknown field/)
        await renamed.delete('a')
        expect((await renamed.list({ showDeleted: true, filter: 'id = "a"' })).items[0]?.deletedAt).to.be.a(
          'date',
        )
        expect(resourceModel(Renamed)).to.deep.include({ tenantInKey: true, ttlMs: 30 * 86_400_000 })
      })
    } finally {
      await served.stop()
    }
  })

  it('show and filter by the row that they refer to', async () => {
    const plans = [Country, Person, Project, Task, Step, Badge] as const
    const named = [Land, Human, Venture, Chore, Move] as const
    const own = { planTask: unserved, watchTasks: unserved }
    const [same, other] = await Promise.all([
      serve(backend, plans, (builder, of) => {
        builder
          .register(CountryService, of(Country))
          .register(PersonService, of(Person))
          .register(ProjectService, of(Project))
        builder.register(TaskService, of(Task), own).register(StepService, of(Step))
      }),
      serve(backend, named, (builder, of) => {
        builder
          .register(CountryService, of(Land))
          .register(PersonService, of(Human))
          .register(ProjectService, of(Venture))
        builder.register(TaskService, of(Chore), own).register(StepService, of(Move))
      }),
    ])
    try {
      await asAda(async () => {
        await same.repositories(Person).create({ id: 'ada', title: 'Ada', password: 'x' })
        await same.repositories(Project).create({ id: 'p1', title: 'Dam', ownerId: 'ada' })
        await other.repositories(Human).create({ id: 'ada', called: 'Ada', phrase: 'x' })
        await other.repositories(Venture).create({ id: 'p1', called: 'Dam', holder: { id: 'ada' } as Human })
      })
      for (const call of TASK_CALLS) {
        const [found, expected] = [await other.call(...call), await same.call(...call)]
        expect(found, call.slice(0, 2).join(' ')).to.deep.equal(expected)
        if (call[1] !== TASK_CALLS[7]?.[1] || (call[2] as { id?: string })?.id !== 't2') continue
        await asAda(async () => {
          await same.repositories(Step).create({ id: 's', taskId: 't1', title: 's' })
          await other.repositories(Move).create({ id: 's', chore: { id: 't1' } as Chore, title: 's' })
        })
      }
      await asAda(async () => {
        const chore = await other
          .repositories(Chore)
          .get('t2', { with: ['venture.holder', 'before', 'moves'] })
        expect(chore.venture?.holder).to.include({ called: 'Ada' })
        expect(chore.before).to.include({ called: 'dig' })
      })
    } finally {
      await same.stop()
      await other.stop()
    }
  })
})
