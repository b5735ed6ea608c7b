import { expect } from 'chai'
import { Column, Entity, Index, JoinColumn, ManyToOne, OneToMany, PrimaryColumn } from 'typeorm'
import { Resource, TenantScoped } from '../../../decorators/index.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'

@Resource()
@Entity('fleets')
@TenantScoped()
class Fleet {
  @PrimaryColumn() id!: string
  @OneToMany(() => Ship, (ship) => ship.fleet, { onDelete: 'CASCADE', nullable: true, onUpdate: 'CASCADE' })
  @JoinColumn({ name: 'fleet_id' })
  ships?: Ship[]
  accountId!: string
}

@Resource()
@Entity('ships')
@TenantScoped()
@Index('ships_by_hand', { synchronize: false })
class Ship {
  @PrimaryColumn() id!: string
  @Column() fleetId!: string
  @ManyToOne(() => Fleet, (fleet) => fleet.ships, { onUpdate: 'CASCADE', orphanedRowAction: 'delete' })
  @JoinColumn({ name: 'fleet_id' })
  fleet?: Fleet
  accountId!: string
}

describe('an option of TypeORM without an effect', () => {
  it('is accepted on a relation, on its other side and on an index', () => {
    const [ofShip] = resourceModel(Ship).relations
    expect(ofShip).to.deep.include({ property: 'fleet', kind: 'many-to-one' })
    expect(resourceModel(Fleet).relations.map(({ kind }) => kind)).to.deep.equal(['one-to-many'])
    expect(resourceModel(Ship).indexes).to.deep.equal([])
  })
})
