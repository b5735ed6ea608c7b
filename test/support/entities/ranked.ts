import { BeforeInsert, Column, Entity, PrimaryColumn } from 'typeorm'
import { Default, Resource } from '../../../decorators/index.js'

/** A test can replace the hook of a Ranked. */
export const ranking: { do: (ranked: Ranked) => void } = { do: () => {} }

/** A resource with defaults of both kinds, and a hook that reads them. */
@Resource({ shared: true })
@Entity('ranked')
export class Ranked {
  @PrimaryColumn() id!: string
  @Column({ default: 'new' }) status!: string
  @Default(() => 'ada') @Column() owner!: string
  @Column() slug!: string

  @BeforeInsert() prepare(): void {
    ranking.do(this)
  }
}
