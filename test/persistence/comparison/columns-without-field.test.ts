import { expect } from 'chai'
import { Column, Entity, JoinTable, ManyToMany, PrimaryColumn } from 'typeorm'
import { Resource } from '../../../decorators/index.js'
import { migrate } from '../../../lib/migrations/index.js'
import { schemaModel } from '../../../lib/persistence/index.js'
import { file, onEachEngine } from '../../migrations/each-engine.js'
import { NoteSchema } from '../../support/gen/specimens_pb.js'

@Entity('marks')
class Mark {
  @PrimaryColumn() id!: string
}

/** Its message has name, text and stars. */
@Resource({ message: NoteSchema, shared: true, type: 'note' })
@Entity('marked_notes')
class Marked {
  @PrimaryColumn({ length: 40 }) name!: string
  @Column({ length: 40 }) text!: string
  @Column() stars!: number
  @Column({ length: 40, nullable: true }) draft?: string
  @Column({ type: 'time', nullable: true }) begun?: string
  @ManyToMany(() => Mark) @JoinTable({ name: 'marks_of_notes' }) marks?: Mark[]
}

onEachEngine('columns without a field, and join tables', (database) => {
  it('are dropped by no migration, and the join table is created by none', async () => {
    const files: Record<string, string> = {}
    const migrator = () => migrate({ url: database().url, files })
    const changes = async () => (await migrator().diff(schemaModel([Marked]))).changes
    const texts = (await changes()).expand.map(({ up }) => up).join('\n')
    for (const name of ['draft', 'begun']) expect(texts).to.include(name)
    expect(texts).to.not.include('marks_of_notes')
    for (const [at, { what, up, down }] of (await changes()).expand.entries())
      Object.assign(files, file(`000${at + 2}_${what}`, up, down))
    await migrator().up()
    const join = 'CREATE TABLE marks_of_notes (note_name varchar(40), mark_id varchar(40))'
    Object.assign(files, file('0003_join_table', join, 'DROP TABLE marks_of_notes'))
    await migrator().up()
    const { expand, contract } = await changes()
    expect([...expand, ...contract]).to.deep.equal([])
    await database().rows(`INSERT INTO marks_of_notes VALUES ('a', 'm')`)
    await database().rows(
      `INSERT INTO marked_notes (name, text, stars, draft, begun) VALUES ('a', 't', 1, 'd', '10:00:00')`,
    )
  })
})
