import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Default } from '../../../decorators/default.js'
import { Resource } from '../../../decorators/resource.js'
import { DepositSchema, type Specimen_Phase } from '../gen/specimens_pb.js'

export interface Place {
  city?: string
  surveyed?: boolean
  phase?: Specimen_Phase
  floor?: number
  height?: number
  street?: string | undefined
  number?: number | undefined
  within?: Place | undefined
  population?: bigint
  names?: string[]
  since?: Date
  accessCode?: string
  checkedBy?: string
  marks?: Record<string, string>
  seal?: Uint8Array
}

/** The owners of deposits without one, in order. */
export const owners: string[] = []

/** A resource whose filters read values inside messages and lists. */
@Resource({ message: DepositSchema, shared: true })
@Entity('deposits')
export class Deposit {
  @PrimaryColumn() id!: string
  @Column({ type: 'simple-json', nullable: true }) place?: Place
  @Column('simple-json') labels!: string[]
  @Column('simple-json') depths!: number[]
  @Column('simple-json') codes!: bigint[]
  @Column('simple-json') grades!: number[]
  @Column('simple-json') checks!: boolean[]
  @Column('simple-json') phases!: Specimen_Phase[]
  @Column('simple-json') stops!: Place[]
  @Column('simple-json') samples!: Uint8Array[]
  @Column('simple-json') ratios!: number[]
  @Column({ type: 'text', default: "it's \\ new" }) status!: string
  @Column({ default: 3 }) priority!: number
  @Column({ nullable: true }) @Default(() => owners.shift()) owner?: string
  @Column({ default: true }) open!: boolean
  @Column() summary!: string
}
