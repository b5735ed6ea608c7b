import type { DataSource } from 'typeorm'
import { filter, repositoryOf, RequestContext } from '../../../lib/index.js'
import type {
  NewEntity,
  OperationOptions,
  Repository,
  UpdateOptions,
} from '../../../lib/persistence/index.js'
import { TicketState } from '../gen/helpdesk_pb.js'
import { Comment, type Queue, Ticket } from './entities.js'

type Restricted<R> = Pick<R, Extract<keyof R, 'get' | 'list' | 'update' | 'batchUpdate'>>

export class TicketRepository extends repositoryOf(Ticket) {
  constructor(
    dataSource: DataSource,
    private readonly queues: Repository<Queue>,
  ) {
    super(dataSource)
  }

  /** Creates a ticket, and sets its number and agent. The caller may not be allowed to read the agent. */
  override create(ticket: NewEntity<Ticket>, options?: OperationOptions): Promise<Ticket> {
    return this.transaction(async ({ principal }) => {
      const queueId = ticket.queueId ?? ''
      const next = ({ lastNumber }: Queue) => ({ lastNumber: lastNumber + 1 })
      const { lastNumber, agentId } = await this.queues.modify(queueId, next, { outputOnly: true })
      const set = { number: lastNumber, state: TicketState.OPEN, customerId: principal.subject }
      return super.create({ ...ticket, ...set, ...(agentId !== undefined && { agentId }) }, options)
    })
  }

  /** Updates a ticket, and sets `solvedTime` if the update changes the state to SOLVED. */
  override update(
    key: string,
    ticket: Partial<Ticket>,
    mask: readonly string[] = [],
    options?: UpdateOptions,
  ): Promise<Ticket> {
    if (!mask.includes('state') || ticket.state !== TicketState.SOLVED)
      return super.update(key, ticket as Ticket, mask as [], options)
    const solved = { ...ticket, solvedTime: new Date() }
    return super.update(key, solved, [...(mask as ['state']), 'solvedTime'], { ...options, outputOnly: true })
  }

  /** Closes up to 1,000 solved tickets of all tenants and returns their number. */
  closeSolved(): Promise<number> {
    return RequestContext.asSystem({ reason: 'close solved tickets' }, () =>
      this.transaction(async () => {
        const { items } = await this.list({ pageSize: 1000 }, { where: filter`state = ${'SOLVED'}` })
        for (const { id } of items) await this.update(id, { state: TicketState.CLOSED }, ['state'])
        return items.length
      }),
    )
  }
}

export class CommentRepository extends repositoryOf(Comment) {
  constructor(
    dataSource: DataSource,
    private readonly tickets: Repository<Ticket>,
  ) {
    super(dataSource)
  }

  override async create(comment: NewEntity<Comment>, options?: OperationOptions): Promise<Comment> {
    const { customerId } = await this.tickets.get(comment.ticketId ?? '')
    return super.create({ ...comment, customerId }, options)
  }

  /**
   * Moves the comments of a ticket to another ticket, page by page. Clients cannot write `ticketId` or
   * `movedFrom`.
   */
  async move(from: string, to: string, restricted: Restricted<CommentRepository>): Promise<void> {
    for (;;) {
      const { items } = await restricted.list({ pageSize: 1000 }, { where: filter`ticket_id = ${from}` })
      if (items.length === 0) return
      await restricted.batchUpdate(
        items.map(({ id }) => ({
          ...{ key: id, entity: { ticketId: to, movedFrom: from } },
          fieldMask: ['ticketId', 'movedFrom'] as const,
        })),
        { outputOnly: true },
      )
    }
  }
}
