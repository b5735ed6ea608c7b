import { expect } from 'chai'
import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { Resource } from '../../../decorators/index.js'
import { migrate } from '../../../lib/migrations/index.js'
import { schemaModel } from '../../../lib/persistence/index.js'
import type { EntityClass } from '../../../lib/resource/resource-model.js'
import { file, onEachEngine } from '../../migrations/each-engine.js'

/** What an application words in SQL, which each engine words anew. */
function ownOf(uuid: string): EntityClass<object> {
  @Resource({ shared: true })
  @Entity('own_definitions')
  @Index(['title'], { unique: true, where: "state = 'open' and size > 1" })
  class Own {
    @PrimaryColumn({ type: 'uuid', default: () => uuid }) id!: string
    @Column({ length: 40 }) title!: string
    @Column({ type: 'varchar', length: 40, default: () => "'o' || 'pen'" }) state!: string
    @Column({ default: '7' }) size!: number
    @Column({ type: Date, default: () => 'CURRENT_TIMESTAMP', onUpdate: 'CURRENT_TIMESTAMP(6)' })
    seenAt!: Date
    @Column({ type: 'bigint', default: '5', transformer: { to: String, from: Number } }) weight!: number
  }
  return Own
}

onEachEngine('definitions in SQL', (database, dialect) => {
  it('are in the first migration, and no difference afterwards', async () => {
    const own = ownOf(dialect === 'postgres' ? 'gen_random_uuid()' : 'uuid()')
    const files: Record<string, string> = {}
    const migrator = () => migrate({ url: database().url, files })
    const model = () => schemaModel([own])
    const { expand } = (await migrator().diff(model())).changes
    for (const [at, { what, up, down }] of expand.entries())
      Object.assign(files, file(`000${at + 2}_${what}`, up, down))
    await migrator().up()
    await database().rows(`INSERT INTO own_definitions (title) VALUES ('a')`)
    const [row] = await database().rows('SELECT state, size, weight FROM own_definitions')
    const state = dialect === 'postgres' ? 'open' : '0'
    expect({ ...row, weight: String(row?.['weight']) }).to.include({ state, size: 7, weight: '5' })
    const { changes } = await migrator().diff(model())
    expect([changes.expand, changes.contract]).to.deep.equal([[], []])
  })
})
