import { Column, Entity, JoinColumn, ManyToOne, OneToMany, PrimaryColumn, Unique } from 'typeorm'
import { Emits, ETag, Expirable, Resource, SoftDeletable, TenantScoped } from '../../../decorators/index.js'
import type { PartValue } from '../../../lib/resource/keys/key-part.js'
import type { EntityClass } from '../../../lib/resource/resource-model.js'
import { declareKey, KEY_TYPES, type KeyType } from './key-types.js'

/** A resource with a key of some type, as the tests see it. */
export interface Lot {
  id: PartValue
  accountId: string
  title: string
  etag: string
  updateTime?: Date
  deleteTime?: Date
  expireTime?: Date
  parts?: Part[]
}

/** A resource of the same type of key, which refers to a lot. */
export interface Part {
  id: PartValue
  accountId: string
  lotId?: PartValue
  nextId?: PartValue
  lot?: Lot
}

/** One type of keys, and the two resources that have it. */
export interface Keyed extends Omit<KeyType, 'column' | 'design'> {
  readonly Lot: EntityClass<Lot>
  readonly Part: EntityClass<Part>
}

/** Declares both resources. */
function keyed({ column, design, ...type }: KeyType, at: number): Keyed {
  @Entity(`lots_${at}`)
  @TenantScoped()
  @SoftDeletable()
  @Expirable()
  @Emits()
  @Unique(['title'])
  class AnyLot implements Lot {
    id!: PartValue
    accountId!: string
    @Column({ type: 'varchar', length: 100, nullable: true }) title!: string
    @ETag() etag!: string
    deleteTime?: Date
    expireTime?: Date
    @OneToMany(() => AnyPart, (part) => part.lot) parts?: AnyPart[]
  }
  @Entity(`parts_${at}`)
  @TenantScoped()
  @SoftDeletable()
  class AnyPart implements Part {
    id!: PartValue
    accountId!: string
    lotId?: PartValue
    nextId?: PartValue
    deleteTime?: Date
    @ManyToOne(() => AnyLot, (lot) => lot.parts, { onDelete: 'CASCADE' })
    @JoinColumn({ name: 'lot_id' })
    lot?: AnyLot
    @ManyToOne(() => AnyPart, { onDelete: 'SET NULL' })
    @JoinColumn({ name: 'next_id' })
    next?: AnyPart
  }
  for (const entity of [AnyLot, AnyPart]) declareKey(entity, 'id', design, PrimaryColumn(column as never))
  for (const name of ['lotId', 'nextId'])
    declareKey(AnyPart, name, design, Column({ ...column, nullable: true } as never))
  for (const [entity, name] of [
    [AnyLot, `lot_${at}`],
    [AnyPart, `part_${at}`],
  ] as const)
    Resource({ type: name })(entity)
  return { ...type, Lot: AnyLot, Part: AnyPart }
}

/** Every type of keys that somebody chooses. */
export const KEYED: readonly Keyed[] = KEY_TYPES.map(keyed)
