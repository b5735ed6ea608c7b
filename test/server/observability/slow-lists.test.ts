import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm'
import { Resource } from '../../../decorators/resource.js'
import { SoftDeletable } from '../../../decorators/soft-deletable.js'
import { TenantScoped } from '../../../decorators/tenant-scoped.js'
import { RequestContext } from '../../../lib/context.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { logSlowLists } from '../../../lib/server/observability/slow-lists.js'
import { databases, describeOn, openWithTables } from '../../support/databases/backends.js'
import { EchoService } from '../../support/gen/specimens_pb.js'
import { echoService } from '../../support/grpc/echo.js'
import { recordingLogger, startServer } from '../../support/servers/server.js'

@Resource()
@Entity('slow_routes')
@TenantScoped()
class Route {
  @PrimaryColumn({ length: 40 }) id!: string
  @Column({ length: 20 }) town!: string
  accountId!: string
}

@Resource()
@Entity('slow_errands')
@Index(['rank', 'id'])
@TenantScoped()
@SoftDeletable()
class Errand {
  @PrimaryColumn({ length: 40 }) id!: string
  @Column({ length: 20 }) state!: string
  @Column({ length: 100 }) displayTitle!: string
  @Column('text') note!: string
  @Column() rank!: number
  @Column({ type: Date, nullable: true }) dueTime?: Date
  @Column({ length: 40, nullable: true }) routeId?: string
  @ManyToOne(() => Route) @JoinColumn() route?: Route
  accountId!: string
  deleteTime?: Date
}

const SERVED = "@Index(['displayTitle', 'id']) on Errand"

describeOn('lists that are slow', databases, (backend) => {
  const isMysql = ['mariadb', 'mysql8'].includes(backend.name)
  let errands: TypeormRepository<Errand>
  let close: () => Promise<void>
  const principal = { tenant: 't', subject: '', groups: [], scopes: [] }
  const context = new RequestContext({ principal })
  before(async () => {
    const opened = await openWithTables(backend, [Route, Errand])
    close = opened.close
    const dataSource = opened.dataSource as DataSource
    errands = new TypeormRepository(dataSource, Errand)
  })
  after(() => close?.())

  const part = (index: string, why: string) =>
    `a list was slow: ${index} on Errand matches a part of it, but no index matches its sort order: ${why}`
  const BOTH = 'it is ascending and descending at once'
  const none = (why: string) => `a list was slow: no index matches its sort order: ${why}`
  const cases: readonly (readonly [orderBy: string, filter: string, message: string])[] = [
    ['display_title', '', `a list was slow: write ${SERVED}`],
    ['display_title desc', '', `a list was slow: write ${SERVED}`],
    [
      'display_title',
      'state = "open" AND rank > 3',
      "a list was slow: write @Index(['state', 'displayTitle', 'id']) on Errand",
    ],
    ['rank', '', 'a list was slow: Errand has an index for its sort order, so check its filter'],
    ['', '', 'a list was slow: Errand has an index for its sort order, so check its filter'],
    ['display_title, rank desc', '', isMysql ? none(BOTH) : part("@Index(['displayTitle'])", BOTH)],
    [
      'display_title, rank desc',
      'state = "open"',
      isMysql ? part("@Index(['state'])", BOTH) : part("@Index(['state', 'displayTitle'])", BOTH),
    ],
    ['note', 'note = "x"', none('note has no length, or one above 512')],
    [
      'due_time',
      '',
      isMysql
        ? none('due_time can be empty, and this database keeps such rows elsewhere in an index')
        : "a list was slow: write @Index(['dueTime', 'id']) on Errand",
    ],
    ['route.town', '', none('route.town is not a column of the table')],
  ]
  it('are logged with the index that serves the order, or why none does', async () => {
    const logger = recordingLogger()
    const stop = logSlowLists(logger, 0)
    try {
      for (const [orderBy, filter] of cases)
        await context.run(() => errands.list({ orderBy, filter }, { through: ['route'] }))
    } finally {
      stop()
    }
    expect(logger.records.map(({ message }) => message)).to.deep.equal(cases.map(([, , message]) => message))
    expect(logger.records[2]?.level).to.equal('warn')
    const { durationMs, ...fields } = logger.records[2]?.fields ?? {}
    expect(fields).to.deep.equal({ table: 'slow_errands', orderBy: 'display_title, id' })
    expect(durationMs).to.be.a('number')
  })

  it('of all tenants are served by no index', async () => {
    const logger = recordingLogger()
    const stop = logSlowLists(logger, 0)
    await RequestContext.asSystem(() => errands.list({ orderBy: 'display_title' })).finally(stop)
    expect(logger.records.map(({ message }) => message)).to.deep.equal([
      none('it covers all tenants, but an index begins with the tenant'),
    ])
  })
})

describeOn('the log of slow lists', databases, (backend) => {
  it('has each order once a minute, and no faster list', async () => {
    const opened = await openWithTables(backend, [Route])
    const dataSource = opened.dataSource as DataSource
    const routes = new TypeormRepository(dataSource, Route)
    const context = new RequestContext({
      principal: { tenant: 't', subject: '', groups: [], scopes: [] },
    })
    const logger = recordingLogger()
    let now = 0
    const stops = [
      logSlowLists(logger, 0, () => now),
      logSlowLists(logger, 3_600_000),
      logSlowLists(logger, Infinity),
    ]
    const list = () => context.run(() => routes.list({ orderBy: 'town', filter: 'town > "hunter2"' }))
    const write = "a list was slow: write @Index(['town', 'id']) on Route"
    try {
      await list()
      await list()
      await context.run(() => routes.get('none')).catch(() => {})
      expect(logger.records.map(({ message }) => message)).to.deep.equal([write])
      now += 60_000
      await list()
      expect(logger.records.at(-1)?.message).to.equal(`${write} (1 more since it was last reported)`)
      expect(JSON.stringify(logger.records)).to.not.include('hunter2')
      for (const stop of stops) stop()
      const running = await startServer((builder) => builder.register(EchoService, echoService), {
        slowListMs: 0,
      })
      await list()
      await running.stop()
      await list()
      expect(running.records.filter(({ message }) => message === write)).to.have.length(1)
    } finally {
      for (const stop of stops) stop()
      await opened.close()
    }
  })
})
