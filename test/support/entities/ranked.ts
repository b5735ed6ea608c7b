import { BeforeInsert, Column, Entity, PrimaryColumn } from 'typeorm'
import { Default, Resource } from '../../../decorators/index.js'

/** What a test lets the hook of a Ranked do. */
export const ranking: { do: (ranked: Ranked) => void } = { do: () => {} }

/** Defaults of both kinds, and a hook that sees them. */
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
