import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm'
import { Emits, OutputOnly, Resource, TenantScoped } from '../../../decorators/index.js'
import {
  AgentSchema,
  ArticleSchema,
  AttachmentSchema,
  AuditEntrySchema,
  CommentSchema,
  CustomerSchema,
  EscalationSchema,
  QueueSchema,
  TagSchema,
  TeamSchema,
  TicketSchema,
  type TicketState,
  TicketTagSchema,
} from '../gen/helpdesk_pb.js'

@Resource({ message: CustomerSchema })
@Entity('customers')
@TenantScoped()
export class Customer {
  @PrimaryColumn() id!: string
  @Column() email!: string
  accountId!: string
}

@Resource({ message: TeamSchema })
@Entity('teams')
@TenantScoped()
export class Team {
  @PrimaryColumn() id!: string
  @Column() title!: string
  accountId!: string
}

@Resource({ message: AgentSchema })
@Entity('agents')
@TenantScoped()
export class Agent {
  @PrimaryColumn() id!: string
  @Column() email!: string
  @Column() teamId!: string
  @ManyToOne(() => Team, { nullable: false }) @JoinColumn({ name: 'team_id' }) team?: Relation<Team>
  accountId!: string
}

@Resource({ message: QueueSchema })
@Entity('queues')
@TenantScoped()
export class Queue {
  @PrimaryColumn() id!: string
  @Column() title!: string
  @Column({ type: String, nullable: true }) agentId?: string
  @ManyToOne(() => Agent, { onDelete: 'SET NULL' }) @JoinColumn({ name: 'agent_id' }) agent?: Relation<Agent>
  /** The number of the last ticket of the account. It is not in the message. */
  @Column({ default: 0 }) lastNumber!: number
  accountId!: string
}

@Resource({ message: TicketSchema })
@Entity('tickets')
@TenantScoped()
@Emits({ include: 'changed' })
export class Ticket {
  @PrimaryColumn() id!: string
  @Column() title!: string
  @Column() queueId!: string
  @ManyToOne(() => Queue, { nullable: false }) @JoinColumn({ name: 'queue_id' }) queue?: Relation<Queue>
  @Column({ type: String }) state!: TicketState
  @OutputOnly() @Column() customerId!: string
  @ManyToOne(() => Customer, { nullable: false })
  @JoinColumn({ name: 'customer_id' })
  customer?: Relation<Customer>
  @OutputOnly() @Column({ type: String, nullable: true }) agentId?: string
  @ManyToOne(() => Agent, { onDelete: 'SET NULL' }) @JoinColumn({ name: 'agent_id' }) agent?: Relation<Agent>
  @OutputOnly() @Column() number!: number
  @OutputOnly() @Column({ type: Date, nullable: true }) solvedTime?: Date
  accountId!: string
}

@Resource({ message: CommentSchema })
@Entity('comments')
@TenantScoped()
export class Comment {
  @PrimaryColumn() id!: string
  @Column() text!: string
  @Column() ticketId!: string
  @ManyToOne(() => Ticket, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn({ name: 'ticket_id' })
  ticket?: Relation<Ticket>
  @Column() internal!: boolean
  @OutputOnly() @Column() customerId!: string
  /** The ticket that the comment was moved from. It is not in the message. */
  @Column({ default: '' }) movedFrom!: string
  accountId!: string
}

@Resource({ message: AttachmentSchema })
@Entity('attachments')
@TenantScoped()
export class Attachment {
  @PrimaryColumn() id!: string
  @Column() fileName!: string
  @Column() commentId!: string
  @ManyToOne(() => Comment, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn({ name: 'comment_id' })
  comment?: Relation<Comment>
  accountId!: string
}

@Resource({ message: TagSchema })
@Entity('tags')
@TenantScoped()
export class Tag {
  @PrimaryColumn() id!: string
  @Column() label!: string
  accountId!: string
}

@Resource({ message: TicketTagSchema })
@Entity('ticket_tags')
@TenantScoped()
export class TicketTag {
  @PrimaryColumn() id!: string
  @Column() ticketId!: string
  @ManyToOne(() => Ticket, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn({ name: 'ticket_id' })
  ticket?: Relation<Ticket>
  @Column() tagId!: string
  @ManyToOne(() => Tag, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn({ name: 'tag_id' })
  tag?: Relation<Tag>
  accountId!: string
}

@Resource({ message: ArticleSchema })
@Entity('articles')
@TenantScoped()
export class Article {
  @PrimaryColumn() id!: string
  @Column() title!: string
  @Column() published!: boolean
  accountId!: string
}

@Resource({ message: EscalationSchema })
@Entity('escalations')
@TenantScoped()
export class Escalation {
  @PrimaryColumn() id!: string
  @Column() ticketId!: string
  @ManyToOne(() => Ticket, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn({ name: 'ticket_id' })
  ticket?: Relation<Ticket>
  @Column() reason!: string
  accountId!: string
}

/** An audit entry. A consumer of the ticket events writes it. */
@Resource({ message: AuditEntrySchema })
@Entity('audit_entries')
@TenantScoped()
export class AuditEntry {
  @PrimaryColumn() id!: string
  @Column() what!: string
  @Column() actor!: string
  @Column() requestId!: string
  accountId!: string
}

export const helpdeskEntities = [
  ...[Customer, Team, Agent, Queue, Ticket, Comment, Attachment, Tag, TicketTag, Article, Escalation],
  AuditEntry,
]
