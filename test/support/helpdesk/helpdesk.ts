import type { DataSource } from 'typeorm'
import {
  type Authorizer,
  filter,
  repositoryFor,
  ServerBuilder,
  supportsRowAccess,
} from '../../../lib/index.js'
import { consumer } from '../../../lib/events/index.js'
import * as gen from '../gen/helpdesk_pb.js'
import {
  Agent,
  Article,
  Attachment,
  AuditEntry,
  Customer,
  Escalation,
  Queue,
  Tag,
  Team,
  TicketTag,
} from './entities.js'
import { CommentRepository, TicketRepository } from './repositories.js'

const READS: ReadonlySet<string> = new Set(['get', 'list'])

/**
 * Allows agents everything. Customers may read their own tickets and comments, their own customer, published
 * articles, queues and tags, and may write tickets and create comments.
 */
export const helpdeskAuthorizer: Authorizer = {
  decidesByRow: true,
  authorize: ({ type, verb, principal }) => {
    if (principal.groups.includes('agents')) return true
    const { subject } = principal
    const writes = verb === 'create' || verb === 'update'
    if (type === 'ticket' && (READS.has(verb) || writes)) return { where: filter`customer_id = ${subject}` }
    if (type === 'comment' && (READS.has(verb) || verb === 'create'))
      return { where: filter`customer_id = ${subject} AND internal = false` }
    if (!READS.has(verb)) return false
    if (type === 'customer') return { where: filter`id = ${subject}` }
    return type === 'article' ? { where: filter`published = true` } : type === 'queue' || type === 'tag'
  },
}

export function helpdesk(dataSource: DataSource) {
  const queues = repositoryFor(Queue, dataSource)
  const tickets = new TicketRepository(dataSource, queues)
  const comments = new CommentRepository(dataSource, tickets)
  const audit = repositoryFor(AuditEntry, dataSource)
  const others = {
    customers: repositoryFor(Customer, dataSource),
    teams: repositoryFor(Team, dataSource),
    agents: repositoryFor(Agent, dataSource),
    attachments: repositoryFor(Attachment, dataSource),
    tags: repositoryFor(Tag, dataSource),
    ticketTags: repositoryFor(TicketTag, dataSource),
    articles: repositoryFor(Article, dataSource),
    escalations: repositoryFor(Escalation, dataSource),
  }
  /** Writes an audit entry with the user who changed a ticket. */
  const auditing = consumer({ name: 'audit', subject: { resource: 'ticket' }, dataSource }, (event) =>
    audit.create({
      ...{ id: event.id, what: `${event.verb} ${event.key}` },
      ...{ actor: event.actor, requestId: event.requestId },
    }),
  )
  const builder = new ServerBuilder({ authorizer: helpdeskAuthorizer })
    .register(gen.QueueService, queues)
    .register(gen.AuditEntryService, audit)
    .register(gen.CustomerService, others.customers)
    .register(gen.TeamService, others.teams)
    .register(gen.AgentService, others.agents)
    .register(gen.AttachmentService, others.attachments)
    .register(gen.TagService, others.tags)
    .register(gen.TicketTagService, others.ticketTags)
    .register(gen.ArticleService, others.articles)
    .register(gen.EscalationService, others.escalations)
    .register(gen.TicketService, tickets, {
      readTicket: supportsRowAccess(tickets, async ({ id }, call, restricted) => {
        const ticket = await restricted.get(id)
        const { items } = await call.restricted(comments).list({}, { where: filter`ticket_id = ${id}` })
        return { ticket: tickets.model.toMessage(ticket), texts: items.map(({ text }) => text) }
      }),
      mergeTickets: supportsRowAccess(tickets, async ({ id, others: merged }, call, restricted) =>
        tickets.transaction(async () => {
          for (const other of merged) {
            await comments.move(other, id, call.restricted(comments))
            await restricted.update(other, { state: gen.TicketState.CLOSED }, ['state'])
          }
          return tickets.model.toMessage(await restricted.get(id))
        }),
      ),
    })
    .register(gen.CommentService, comments, {
      // A deliberate mistake: access by row is not supported for a streaming method, so the call fails.
      followComments: async function* (_request, call) {
        const { items } = await call.restricted(comments).list()
        for (const comment of items) yield comments.model.toMessage(comment)
      },
    })
    .workers(auditing)
  return { ...others, queues, tickets, comments, audit, auditing, builder }
}
