import { AssertionError, expect } from 'chai'
import fc from 'fast-check'
import type { ListOptions, ListScope, Repository } from '../../../lib/persistence/contract/repository.js'
import { openPlans, type Plans } from '../../conformance/related/plans.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { drill, drilling } from '../../support/drill.js'
import type { Task } from '../../support/entities/plans.js'
import {
  CountryService,
  PersonService,
  ProjectService,
  StepService,
  TaskService,
} from '../../support/gen/plans_pb.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { type RunningServer, startServer } from '../../support/servers/server.js'
import { fill, type Type, type World, worlds } from './plan-rows.js'
import { type List, type Listed, lists } from './related-lists.js'

/** Worlds on each backend, with so many lists in each. */
const WORLDS = drill(8, 400)
const LISTS = { minLength: 8, maxLength: 16 }
const [OK, INVALID] = [0, 3]

const NAMES: Readonly<Record<Listed, string>> = {
  project: 'Projects',
  task: 'Tasks',
  step: 'Steps',
}
const SERVICES = { project: ProjectService, task: TaskService, step: StepService }
/** What differs between two tenants, whatever is in them. */
const OWN = ['account_id', 'accountId', 'etag', 'delete_time', 'deleteTime']

const nobodyCalls = () => Promise.reject(new TypeError('nobody calls it'))

interface Served {
  readonly running: RunningServer
  readonly clients: Readonly<Record<Listed, ForeignClient>>
  readonly stop: () => Promise<void>
}

/**
 * Three tenants: two of them have the same rows as far as a caller may list them, and the third has others of
 * the same keys. What the lists of the first two return may not differ, whatever they filter and order by.
 */
describeOn('filters and orders through relations', backends, (backend) => {
  let plans: Plans
  let served: Served
  let world: World
  const told = new Map<string, number>()

  const serve = async (tasks: Repository<Task>): Promise<Served> => {
    const running = await startServer(
      (builder) =>
        void builder
          .register(CountryService, plans.countries)
          .register(PersonService, plans.persons)
          .register(ProjectService, plans.projects)
          .register(StepService, plans.steps)
          .register(TaskService, tasks, { planTask: nobodyCalls, watchTasks: nobodyCalls as never }),
      { authorizer: { decidesByRow: true, authorize: ({ type }) => world.limits[type as Type].decision } },
    )
    const clientOf = (type: Listed) => new ForeignClient(SERVICES[type], running.grpc)
    const clients = {
      project: clientOf('project'),
      task: clientOf('task'),
      step: clientOf('step'),
    }
    const stop = async () => {
      for (const client of Object.values(clients)) client.close()
      await running.stop()
    }
    return { running, clients, stop }
  }

  before(async () => {
    plans = await openPlans(backend)
    served = await serve(plans.tasks)
  })
  after(async () => {
    await served?.stop()
    await plans?.close()
  })

  /** Every page over gRPC, and the first one over HTTP. */
  const ask = async (
    { running, clients }: Served,
    tenant: string,
    list: List,
  ): Promise<readonly unknown[]> => {
    const { type, filter, orderBy, pageSize, showDeleted, mask } = list
    const headers = { 'account-id': tenant, subject: 'ada' }
    const asked = {
      page_size: pageSize,
      ...(filter !== '' && { filter }),
      ...(orderBy !== '' && { order_by: orderBy }),
    }
    const more = { ...(showDeleted && { show_deleted: true }) }
    const pages: unknown[] = []
    for (let token = ''; ;) {
      const request = {
        ...asked,
        ...more,
        page_token: token,
        ...(mask.length > 0 && { read_mask: { paths: mask } }),
      }
      const { code, details, answer } = await clients[type].unary(`List${NAMES[type]}`, request, headers)
      pages.push([code, details, comparable(answer)])
      token = (answer?.['next_page_token'] as string | undefined) ?? ''
      count(code, filter, answer)
      if (token === '' || pages.length > 50) break
    }
    const query = new URLSearchParams(
      Object.entries({ ...asked, ...more, ...(mask.length > 0 && { read_mask: mask.join(',') }) }).map(
        ([name, value]) => [name, String(value)],
      ),
    )
    const response = await fetch(`${running.http}/v1/${NAMES[type].toLowerCase()}?${query.toString()}`, {
      headers,
    })
    return [...pages, response.status, comparable(await response.json())]
  }
  const count = (code: number, filter: string, answer: object | undefined) => {
    const rows = Object.values(answer ?? {}).find(Array.isArray)?.length ?? 0
    const name = `${code}${code === OK && /\./.test(filter) ? (rows > 0 ? ' some' : ' none') : ''}`
    told.set(name, (told.get(name) ?? 0) + 1)
  }

  const askAll = async (by: Served, tenant: string, all: readonly List[]) => {
    const responses: unknown[] = []
    for (const one of all) responses.push([one, await ask(by, tenant, one)])
    return responses
  }

  const compare = async (by: Served, next: World, all: readonly List[]): Promise<void> => {
    await plans.clear()
    world = next
    for (const [id, title] of [
      ['no', 'Norway'],
      ['se', 'Sweden'],
    ] as const)
      await plans.countries.create({ id, title })
    await fill(plans, 'known', world.known)
    const alone = await askAll(by, 'known', all)
    await fill(plans, 'foreign', world.foreign)
    await fill(plans, 'altered', world.altered)
    expect(await askAll(by, 'known', all)).to.deep.equal(alone)
    expect(await askAll(by, 'altered', all)).to.deep.equal(alone)
  }

  it(`tell nothing of rows that the caller may not list, in ${WORLDS} worlds`, async () => {
    await fc.assert(
      fc.asyncProperty(worlds, fc.array(lists, LISTS), (next, all) => compare(served, next, all)),
      { numRuns: WORLDS, ...(drilling ? {} : { seed: 15 }) },
    )
    if (drilling) process.stdout.write(`        ${JSON.stringify([...told])}\n`)
    // The lists were worth making.
    for (const name of [`${OK} some`, `${OK} none`, String(INVALID)])
      expect(told.get(name) ?? 0, name).to.be.at.least(WORLDS)
  })

  // What this tests is the comparison, which is the same on every backend.
  if (backend.name !== 'memory' && !drilling) return

  it('are found to tell something where a repository leaves a predicate out', async () => {
    const leaking = await serve(
      Object.create(plans.tasks, {
        list: {
          value: (list: ListOptions<Task>, { through, ...options }: ListScope = {}) =>
            plans.tasks.list(list, {
              ...options,
              ...(through && {
                through: through.map((one) => (typeof one === 'string' ? one : one.relation)),
              }),
            }),
        },
        count: { value: plans.tasks.count.bind(plans.tasks) },
      }) as Repository<Task>,
    )
    try {
      const found = await fc.check(
        fc.asyncProperty(worlds, fc.array(lists, LISTS), (next, all) => compare(leaking, next, all)),
        { numRuns: 200, seed: 15, endOnFailure: true },
      )
      expect(found.errorInstance).to.be.instanceOf(AssertionError)
    } finally {
      await leaking.stop()
    }
  })
})

const comparable = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value ?? null, (key, one: unknown) => {
      if (OWN.includes(key)) return undefined
      return key === 'next_page_token' || key === 'nextPageToken' ? one !== '' : one
    }),
  )
