import { expect } from 'chai'
import { Column, type DataSource, Entity, JoinTable, ManyToMany, ManyToOne, PrimaryColumn } from 'typeorm'
import { Internal, Resource } from '../../../decorators/index.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { backends } from '../../support/databases/backends.js'

@Entity('noted_owners')
class Owner {
  @PrimaryColumn() id!: string
}

@Resource({ shared: true })
@Entity('noted_boats')
class Boat {
  @PrimaryColumn() id!: string
  @Column() label!: string
  @Internal() @ManyToOne(() => Owner, { onDelete: 'CASCADE' }) owner?: Owner
  @Internal() @ManyToMany(() => Owner) @JoinTable({ name: 'noted_crews' }) crew?: Owner[]
}

@Entity('noted_visits')
class Visit {
  @PrimaryColumn() id!: string
  @ManyToOne(() => Boat, { onDelete: 'SET NULL' }) boat?: Boat
  @ManyToOne(() => Owner, { onDelete: 'CASCADE' }) by?: Owner
}

describe('relations that are not managed by Ashlar', () => {
  it('are noted at startup with their tables and with what the database does by them', async () => {
    const sqlite = backends.find(({ name }) => name === 'sqlite')
    const { dataSource, close } = (await sqlite?.open([Owner, Boat, Visit])) ?? {}
    try {
      const { warnings } = await new TypeormRepository(dataSource as DataSource, Boat).startUpCheck()
      expect(warnings.filter((text) => /^(owner|crew) of Boat|^\w+ of Visit/.test(text))).to.deep.equal([
        'crew of Boat is not managed by Ashlar: create its table noted_crews in your own migration',
        "owner of Boat is not managed by Ashlar, and its onDelete: 'CASCADE' changes rows of Boat without a hook or an event when the row of Owner is deleted",
        "boat of Visit, which is not a resource, has onDelete: 'SET NULL': the database changes its rows when the row of Boat is permanently removed",
      ])
    } finally {
      await close?.()
    }
  })
})
