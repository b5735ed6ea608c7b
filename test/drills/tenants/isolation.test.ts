import { expect } from 'chai'
import fc from 'fast-check'
import type { DataSource } from 'typeorm'
import { RequestContext } from '../../../lib/context.js'
import { Unauthenticated } from '../../../lib/errors.js'
import { MemoryDatabase } from '../../../lib/persistence/memory/memory-database.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { newDev } from '../../../lib/secrets/dev-encryptor.js'
import type { Config } from '../../../lib/server/config/config.js'
import { collated } from '../../conformance/repository/open-subject.js'
import { backends, describeOn, coalesced, type OpenBackend } from '../../support/databases/backends.js'
import { drill, drilling } from '../../support/drill.js'
import { Club, clubEntities, Fee, Member } from './clubs.js'
import { Maker } from '../../support/entities/instruments.js'
import { ClubService, FeeService, MemberService } from '../../support/gen/clubs_pb.js'
import { MakerService } from '../../support/gen/makers_pb.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { rejection } from '../../support/rejection.js'
import { type RunningServer, startServer } from '../../support/servers/server.js'
import { byRepository, type Clients, type Clubs, type Outcome, overGrpc, overHttp } from './club-calls.js'
import { ClubModel, EDGES, type Expected, KINDS, type Operation } from './club-model.js'
import { IDS, mark, type Step, stepsOf, TENANTS, withMark } from './club-steps.js'

/** Of all runs together, on each backend. */
const OPERATIONS = drill(300, 20_000)
const MOST_STEPS = 240
const [INVALID, NOT_FOUND, DENIED] = [3, 5, 7]
const MARKS = /‹\d›/g
/** Every other key is a maker's, and not the same ones in each tenant. */
const makerIdsOf = (tenant: number) => IDS.filter((_, i) => (i + tenant) % 2 === 0)

/** Both servers know callers by their tokens, such as `2-boss`. */
const ACCESS: Config = {
  authenticator: {
    authenticate: (token) => {
      const [tenant, who] = token.split('-')
      if (who === undefined) throw new Unauthenticated()
      const name = who === 'nobody' ? '' : (TENANTS[Number(tenant)] as string)
      return Promise.resolve({ subject: who, tenant: name, groups: [], scopes: [] })
    },
  },
  principalFunc: ({ verified }) => verified ?? { subject: '', tenant: '', groups: [], scopes: [] },
  authorizer: {
    authorize: ({ principal, verb, type }) =>
      principal.subject === 'boss' ||
      ((verb === 'get' || verb === 'list') && (principal.subject === 'reader' || type !== 'club')),
  },
}

describeOn('tenants with equal keys and relations', [...backends, ...coalesced], (backend) => {
  let opened: OpenBackend
  const memory = { database: new MemoryDatabase() }
  let clubs: Clubs
  let makers: RunningServer
  let running: RunningServer
  let clients: Clients
  const told = new Map<string, number>()

  before(async () => {
    opened = await backend.open([...clubEntities])
    const { dataSource, database } = opened
    if (dataSource !== undefined && database !== undefined)
      await createTables(collated(dataSource, backend), clubEntities, database.dialect.name)
    const of = (entity: typeof Club | typeof Member | typeof Fee) =>
      (dataSource === undefined
        ? new (memoryRepositoryOf(entity as typeof Club))(memory)
        : new (repositoryOf(entity as typeof Club))(dataSource)) as never
    clubs = { club: of(Club), member: of(Member), fee: of(Fee) }
    makers = await startMakers()
    running = await startServer(
      (builder) =>
        builder
          .register(ClubService, clubs.club)
          .register(MemberService, clubs.member)
          .register(FeeService, clubs.fee),
      ACCESS,
      (server) => server.recordExternalReferenceTarget('makers.example.com/Maker', makers.grpc),
    )
    clients = {
      club: new ForeignClient(ClubService, running.grpc),
      member: new ForeignClient(MemberService, running.grpc),
      fee: new ForeignClient(FeeService, running.grpc),
    }
  })
  after(async () => {
    for (const client of Object.values(clients ?? {})) client.close()
    await running?.stop()
    await makers?.stop()
    await opened?.close()
  })

  const perform = async ({ tenant, via, who, operation }: Step): Promise<readonly [Outcome, Step['who']]> => {
    const token = `${tenant}-${who}`
    const outcome =
      via === 'gRPC'
        ? await overGrpc(clients, token, operation)
        : via === 'HTTP'
          ? await overHttp(running.http, token, operation)
          : undefined
    if (outcome !== undefined) return [outcome, who]
    return [await byRepository(clubs, TENANTS[tenant] as string, operation), 'boss']
  }

  it(`never meet, in ${OPERATIONS} operations`, async () => {
    await fc.assert(
      fc.asyncProperty(stepsOf(MOST_STEPS), async (steps) => {
        await empty(opened.dataSource, memory.database)
        const models = TENANTS.map(() => new ClubModel())
        // The tenants work at the same time, each of them one step after the other.
        const all = await Promise.allSettled(
          TENANTS.map(async (_, tenant) => {
            for (const one of steps.filter((each) => each.tenant === tenant)) {
              const marked = withMark(one)
              const [outcome, who] = await perform(marked)
              check(marked, who, outcome, models[tenant] as ClubModel)
              const name = `${one.operation.op} ${outcome.code}`
              told.set(name, (told.get(name) ?? 0) + 1)
            }
          }),
        )
        // Nothing of this run may go on in the next one.
        for (const one of all) if (one.status === 'rejected') throw one.reason
        for (const [tenant, model] of models.entries())
          for (const kind of KINDS) {
            const list: Operation = { op: 'list', kind, showDeleted: true }
            const { rows } = await byRepository(clubs, TENANTS[tenant] as string, list)
            expect(rows, `${kind}s of ${mark(tenant)}`).to.deep.equal(model.all(kind))
          }
      }),
      { numRuns: Math.ceil(OPERATIONS / (MOST_STEPS * 0.75)), ...(drilling ? {} : { seed: 7 }) },
    )
    if (drilling)
      process.stdout.write(`        ${JSON.stringify([...told].sort(([a], [b]) => (a < b ? -1 : 1)))}\n`)
    // The operations were worth making.
    const rare = drilling ? ['delete 9', 'undelete 9', 'batchDelete 9', 'batchGet 0', 'batchUpdate 0'] : []
    for (const name of ['create 0', 'create 3', 'create 6', 'update 5', 'undelete 0', 'list 0', ...rare])
      expect(told.get(name) ?? 0, name).to.be.at.least(1)
  })

  if (backend.name === 'memory') return

  it('cannot be connected by hand: the database refuses it', async () => {
    const dataSource = opened.dataSource as DataSource
    const { dialect } = opened.database!
    await empty(dataSource, memory.database)
    for (const tenant of ['acme', 'ACME'])
      await RequestContext.as({ tenant, subject: 'boss' }, async () => {
        for (const name of ['same', `only ${tenant}`]) {
          await clubs.club.create({ id: name, title: tenant } as never)
          await clubs.member.create({ id: name, title: tenant, makerId: '', clubId: name } as never)
          await clubs.member.update(name, { buddyId: name } as never, ['buddy_id'])
          await clubs.fee.create({ id: name, title: tenant, memberId: name } as never)
        }
      })
    const run = (text: string, values: readonly string[]) => {
      let at = 0
      const bound = text.replaceAll('?', () => dialect.values.countPlaceholder(++at))
      return dataSource.query(bound, [...values])
    }
    for (const { child, name } of EDGES) {
      const set = `UPDATE ${child}s SET ${name}_id = ? WHERE account_id = ? AND id = ?`
      await rejection(run(set, ['only ACME', 'acme', 'same']), Error)
      await run(set, ['only acme', 'acme', 'same'])
      await run(set, ['same', 'acme', 'same'])
      await rejection(
        run(`UPDATE ${child}s SET account_id = ? WHERE account_id = ? AND id = ?`, [
          'ACME',
          'acme',
          'only acme',
        ]),
        Error,
      )
    }
    for (const { parent } of EDGES)
      await rejection(
        run(`UPDATE ${parent}s SET account_id = ? WHERE account_id = ? AND id = ?`, [
          'ACME',
          'acme',
          'only acme',
        ]),
        Error,
      )
  })
})

/** Another process, with other makers of the same keys in each tenant. */
async function startMakers(): Promise<RunningServer> {
  const repository = new MemoryRepository(Maker, { encryptor: newDev(Buffer.alloc(32, 7)) })
  for (const [tenant, name] of TENANTS.entries())
    await RequestContext.as({ tenant: name, subject: 'boss' }, async () => {
      for (const id of makerIdsOf(tenant))
        await repository.create({ id, title: `${mark(tenant)} maker ${id}`, country: 'it', remark: '' })
    })
  return startServer((builder) => void builder.register(MakerService, repository), {
    ...ACCESS,
    httpAddr: '',
  })
}

async function empty(dataSource: DataSource | undefined, database: MemoryDatabase): Promise<void> {
  if (dataSource === undefined) {
    for (const entity of clubEntities) {
      const { table } = database.resourceOf(resourceModel(entity))
      const log = Object.assign(() => {}, { context: RequestContext.current() })
      for (const row of table.filter(() => true)) table.remove(row, log)
    }
    return
  }
  await dataSource.query('UPDATE members SET buddy_id = NULL')
  for (const table of ['fees', 'members', 'clubs']) await dataSource.query(`DELETE FROM ${table}`)
}

/** What a step came to is what it comes to where no other tenant is. */
function check({ tenant, operation }: Step, who: Step['who'], outcome: Outcome, model: ClubModel): void {
  const what = JSON.stringify([tenant, who, operation])
  for (const [found] of outcome.text.matchAll(MARKS)) expect(found, what).to.equal(mark(tenant))
  const isEmpty = 'id' in operation ? operation.id === '' : 'ids' in operation && operation.ids.includes('')
  // Over HTTP an empty key is not a path, and that is found before it is known who asks.
  if (isEmpty && (outcome.code === INVALID || outcome.code === NOT_FOUND)) return
  const isRead = ['get', 'batchGet', 'list'].includes(operation.op)
  const mayCall =
    who === 'boss' || (isRead && (who === 'reader' || (who === 'blind' && operation.kind !== 'club')))
  if (!mayCall) {
    expect(outcome.code, what).to.equal(DENIED)
    expect(outcome.rows, what).to.deep.equal([])
    return
  }
  const expected: Expected = model.apply(operation)
  if ('codes' in expected) {
    expect(expected.codes, `${what} ${outcome.text}`).to.include(outcome.code)
    return
  }
  expect(outcome.code, `${what} ${outcome.text}`).to.equal(0)
  const rows = expected.rows.map((row) => {
    const { club, ...shown } = row.shown
    return { ...row, shown: outcome.shows ? (who === 'blind' ? shown : row.shown) : {} }
  })
  expect(outcome.rows, what).to.deep.equal(rows)
  if (outcome.makers !== undefined)
    expect(outcome.makers, what).to.deep.equal(
      rows.map(({ makerId }) =>
        makerIdsOf(tenant).includes(makerId) ? `${mark(tenant)} maker ${makerId}` : undefined,
      ),
    )
}
