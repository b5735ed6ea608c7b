import { expect } from 'chai'
import { ClientError, Status } from 'nice-grpc'
import { filter, RequestContext, SqliteDataSource } from '../../lib/index.js'
import { caughtUp, testServer, type TestServer, withTenant } from '../../lib/testing/index.js'
import {
  AgentService,
  ArticleService,
  CommentService,
  TicketService,
  TicketState,
} from '../support/gen/helpdesk_pb.js'
import { helpdeskEntities } from '../support/helpdesk/entities.js'
import { helpdesk } from '../support/helpdesk/helpdesk.js'

const MANY = 1001

describe('a helpdesk of twelve resources', () => {
  let desk: ReturnType<typeof helpdesk>
  let dataSource: SqliteDataSource
  let server: TestServer
  const customer = (subject: string) => server.as({ tenant: 'acme', subject })
  const agent = () => server.as({ tenant: 'acme', subject: 'agnes', groups: ['agents'] })
  const codeOf = (call: Promise<unknown>) =>
    call.then(
      () => Status.OK,
      (error: unknown) => (error as ClientError).code,
    )
  const open = (subject: string, title: string) =>
    customer(subject)
      .client(TicketService)
      .createTicket({ ticket: { title, queueId: 'support' } })
  const audited = async () => {
    await caughtUp(desk.auditing, 20_000)
    return (await withTenant('acme', () => desk.audit.list({ pageSize: 1000 }))).items
  }

  before(async () => {
    // A transaction of more than 1,000 writes takes longer than the default on a busy machine.
    dataSource = await new SqliteDataSource({
      ...{ database: ':memory:', entities: helpdeskEntities, busyTimeoutMs: 60_000 },
    }).initialize()
    desk = helpdesk(dataSource)
    server = await testServer(desk.builder)
    await withTenant('acme', async () => {
      for (const id of ['ann', 'bob']) await desk.customers.create({ id, email: `${id}@example.com` })
      await desk.teams.create({ id: 'first', title: 'First line' })
      for (const id of ['agnes', 'gone']) await desk.agents.create({ id, email: id, teamId: 'first' })
      await desk.queues.create({ id: 'support', title: 'Support', agentId: 'agnes' })
      for (const published of [true, false])
        await desk.articles.create({ id: `${published}`, title: 'Help', published })
    })
  })
  after(async () => {
    await server?.stop()
    await dataSource?.destroy()
  })

  it('numbers and assigns a ticket, although its customer may not get the agent', async () => {
    const tickets = []
    for (const title of ['Printer', 'Paper']) tickets.push(await open('ann', title))
    expect(tickets.map(({ number, agentId, customerId }) => [number, agentId, customerId])).to.deep.equal([
      [1, 'agnes', 'ann'],
      [2, 'agnes', 'ann'],
    ])
    const agents = customer('ann').client(AgentService)
    expect(await codeOf(agents.getAgent({ id: 'agnes' }))).to.equal(Status.PERMISSION_DENIED)
  })

  it('shows a customer their own rows, in every kind of read', async () => {
    const { id } = await open('bob', 'Secret')
    const add = (text: string, internal: boolean) =>
      agent()
        .client(CommentService)
        .createComment({ comment: { text, internal, ticketId: id } })
    await add('for bob', false)
    await add('internal', true)
    const seen = async (subject: string) => {
      const [tickets, comments] = [
        customer(subject).client(TicketService),
        customer(subject).client(CommentService),
      ]
      return {
        titles: (await tickets.listTickets({})).tickets.map(({ title }) => title),
        texts: (await comments.listComments({})).comments.map(({ text }) => text),
        read: await tickets.readTicket({ id }).then(
          ({ texts }) => texts,
          (error: ClientError) => error.code,
        ),
      }
    }
    expect(await seen('bob')).to.deep.equal({ titles: ['Secret'], texts: ['for bob'], read: ['for bob'] })
    const { titles, texts, read } = await seen('ann')
    expect(titles).to.have.members(['Printer', 'Paper'])
    expect([texts, read]).to.deep.equal([[], Status.NOT_FOUND])
    const { articles } = await customer('ann').client(ArticleService).listArticles({})
    expect(articles.map((article) => article.id)).to.deep.equal(['true'])
  })

  it('sends a customer nothing by a stream that has no decision by row', async () => {
    const received: string[] = []
    const follow = async () => {
      for await (const { text } of customer('bob').client(CommentService).followComments({}))
        received.push(text)
    }
    expect(await codeOf(follow())).to.equal(Status.INTERNAL)
    expect(received).to.deep.equal([])
  })

  it('rejects a mask of a request before the override, whose own mask names properties', async () => {
    const { id } = await open('ann', 'Solve')
    const update = (...paths: string[]) =>
      customer('ann')
        .client(TicketService)
        .updateTicket({ ticket: { id, state: TicketState.SOLVED }, updateMask: { paths } as never })
    expect(await codeOf(update('state', 'solved_time'))).to.equal(Status.INVALID_ARGUMENT)
    const { state, solvedTime } = await update('state')
    expect(state).to.equal(TicketState.SOLVED)
    expect(solvedTime).not.to.equal(undefined)
  })

  it('merges tickets with hundreds of comments, in columns that clients cannot write', async () => {
    const [into, from] = [await open('ann', 'Into'), await open('ann', 'From')]
    await withTenant('acme', () =>
      desk.comments.transaction(async () => {
        for (let at = 0; at < 800; at++)
          await desk.comments.create({ text: `${at}`, ticketId: from.id, internal: at % 2 === 0 })
      }),
    )
    const denied = customer('ann')
      .client(TicketService)
      .mergeTickets({ id: into.id, others: [from.id] })
    expect(await codeOf(denied)).to.equal(Status.PERMISSION_DENIED)
    await agent()
      .client(TicketService)
      .mergeTickets({ id: into.id, others: [from.id] })
    const comments = (options: object) =>
      withTenant('acme', () => desk.comments.list({ pageSize: 1000, ...options }))
    const { items } = await comments({ filter: `ticket_id = "${into.id}"` })
    expect(items.filter(({ movedFrom }) => movedFrom === from.id)).to.have.length(800)
    const { texts } = await customer('ann').client(TicketService).readTicket({ id: into.id })
    expect(texts).to.have.length(50)
  })

  it('says who has changed a ticket, in the handler of its events', async () => {
    await audited()
    const { id } = await open('bob', 'Audited')
    await agent()
      .client(TicketService)
      .updateTicket({
        ticket: { id, state: TicketState.SOLVED },
        updateMask: { paths: ['state'] } as never,
      })
    expect(await desk.tickets.closeSolved()).to.be.at.least(1)
    const entries = (await audited()).filter(({ what }) => what.endsWith(id))
    expect(entries.map(({ what, actor }) => [what.split(' ')[0], actor])).to.have.deep.members([
      ['created', 'bob'],
      ['updated', 'agnes'],
      ['updated', 'system:close solved tickets'],
    ])
    const requests = entries.filter(({ actor }) => !actor.startsWith('system:')).map((one) => one.requestId)
    expect(new Set(requests).size).to.equal(2)
    expect(requests).not.to.include('')
  })

  it('takes an agent out of more tickets than one call may delete, and says who did it', async () => {
    await RequestContext.as({ tenant: 'acme', subject: 'ann' }, () =>
      desk.tickets.transaction(async () => {
        await desk.queues.update('support', { agentId: 'gone' }, ['agentId'])
        for (let at = 0; at < MANY; at++)
          await desk.tickets.create({ title: 'x', queueId: 'support' } as never)
      }),
    )
    await agent().client(AgentService).deleteAgent({ id: 'gone' })
    const where = filter`agent_id = ${'gone'}`
    expect(await withTenant('acme', () => desk.tickets.count({}, { where }))).to.equal(0)
    await caughtUp(desk.auditing, 20_000)
    const unassigned = await withTenant('acme', () =>
      desk.audit.count({ filter: 'actor = "agnes" AND what : "updated"' }),
    )
    expect(unassigned).to.be.at.least(MANY)
  })
})
