import 'reflect-metadata'
import {
  AfterInsert,
  BeforeInsert,
  Column,
  type ColumnOptions,
  Entity,
  JoinColumn,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
  Unique,
} from 'typeorm'
import { Emits, ETag, Resource, Secret, SoftDeletable, TenantScoped } from '../../../decorators/index.js'
import type { PartValue } from '../../../lib/resource/keys/key-part.js'
import type { EntityClass } from '../../../lib/resource/resource-model.js'

/** A resource whose key the database mints. */
export interface Ticket {
  id: PartValue
  accountId: string
  title: string
  pin?: string
  etag: string
  deleteTime?: Date
  steps?: Step[]
}

/** A resource of the same type of key, which refers to a ticket. */
export interface Step {
  id: PartValue
  accountId: string
  ticketId?: PartValue
  nextId?: PartValue
  ticket?: Ticket
}

/** A resource that has nothing but its key, and is deleted for good. */
export interface Mark {
  id: PartValue
}

/** One type of numbers that a database mints, and the resources that have it. */
export interface Numbered {
  readonly name: string
  readonly valueOf: (number: number) => PartValue
  readonly Ticket: EntityClass<Ticket>
  readonly Step: EntityClass<Step>
  readonly Mark: EntityClass<Mark>
}

/** What hooks have seen as the key. */
export const seen: unknown[][] = []

interface NumberType extends Pick<Numbered, 'name' | 'valueOf'> {
  readonly design: unknown
  readonly column: ColumnOptions
  /** Instead of `increment`. */
  readonly identity?: true
}

const TYPES: readonly NumberType[] = [
  { name: 'int', design: Number, column: {}, valueOf: Number },
  { name: 'bigint', design: BigInt, column: { type: 'bigint' }, valueOf: BigInt, identity: true },
  { name: 'bigint as a string', design: String, column: { type: 'bigint' }, valueOf: String },
  { name: 'smallint', design: Number, column: { type: 'smallint' }, valueOf: Number },
  { name: 'unsigned int', design: Number, column: { type: 'int', unsigned: true }, valueOf: Number },
]

function numbered({ name, design, column, identity, valueOf }: NumberType, at: number): Numbered {
  @Entity(`tickets_${at}`)
  @TenantScoped()
  @SoftDeletable()
  @Emits()
  @Unique(['title'])
  class AnyTicket implements Ticket {
    id!: PartValue
    accountId!: string
    @Column({ type: 'varchar', length: 100 }) title!: string
    @Secret() pin?: string
    @ETag() etag!: string
    deleteTime?: Date
    @OneToMany(() => AnyStep, (step) => step.ticket) steps?: AnyStep[]
    @BeforeInsert() before(): void {
      seen.push(['before', this.title, this.id])
    }
    @AfterInsert() after(): void {
      seen.push(['after', this.title, this.id])
    }
  }
  @Entity(`steps_${at}`)
  @TenantScoped()
  @SoftDeletable()
  class AnyStep implements Step {
    id!: PartValue
    accountId!: string
    deleteTime?: Date
    ticketId?: PartValue
    nextId?: PartValue
    @ManyToOne(() => AnyTicket, (ticket) => ticket.steps, { onDelete: 'CASCADE' })
    @JoinColumn({ name: 'ticket_id' })
    ticket?: AnyTicket
    @ManyToOne(() => AnyStep, { onDelete: 'SET NULL' })
    @JoinColumn({ name: 'next_id' })
    next?: AnyStep
  }
  @Entity(`marks_${at}`)
  class AnyMark implements Mark {
    id!: PartValue
  }
  const property = (entity: { readonly prototype: object }, key: string, decorate: PropertyDecorator) => {
    Reflect.defineMetadata('design:type', design, entity.prototype, key)
    decorate(entity.prototype, key)
  }
  const minted = () =>
    identity === true
      ? PrimaryGeneratedColumn('identity', column as never)
      : PrimaryGeneratedColumn(column as never)
  for (const entity of [AnyTicket, AnyStep, AnyMark]) property(entity, 'id', minted())
  for (const key of ['ticketId', 'nextId'])
    property(AnyStep, key, Column({ type: 'int', ...column, nullable: true }))
  for (const [entity, type] of [
    [AnyTicket, `ticket_${at}`],
    [AnyStep, `step_${at}`],
  ] as const)
    Resource({ type })(entity)
  Resource({ type: `mark_${at}`, shared: true })(AnyMark)
  return { name, valueOf, Ticket: AnyTicket, Step: AnyStep, Mark: AnyMark }
}

/** Every type of numbers that a database mints. */
export const NUMBERED: readonly Numbered[] = TYPES.map(numbered)
