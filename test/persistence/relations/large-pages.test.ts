import { expect } from 'chai'
import {
  Column,
  type DataSource,
  Entity,
  JoinColumn,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  type Relation,
} from 'typeorm'
import { Resource, TenantScoped } from '../../../decorators/index.js'
import { watchStatements } from '../../../lib/persistence/engines/watch-statements.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { inAcme } from '../../conformance/repository/subject.js'
import { databases, describeOn, type OpenBackend } from '../../support/databases/backends.js'

@Resource()
@Entity('binders')
@TenantScoped()
class Binder {
  @PrimaryColumn() id!: string
  @OneToMany(() => Sheet, (sheet) => sheet.binder) sheets?: Relation<Sheet>[]
  accountId!: string
}

@Resource()
@Entity('sheets')
@TenantScoped()
class Sheet {
  @PrimaryColumn() id!: string
  @Column('text') text!: string
  @Column() binderId!: string
  @ManyToOne(() => Binder, (binder) => binder.sheets)
  @JoinColumn({ name: 'binder_id' })
  binder?: Relation<Binder>
  accountId!: string
}

/** More together than comes as one text. */
const IDS = ['a', 'b', 'c'] as const
const textOf = (id: string) => `${id}"\u0001`.repeat(2 * 1024 * 1024)

const engines = databases.filter(({ name }) => name === 'sqlite' || name === 'postgres')

describeOn('a page of rows that are too large for one text', engines, (backend) => {
  let opened: OpenBackend
  let sheets: TypeormRepository<Sheet>
  let binders: TypeormRepository<Binder>
  before(async () => {
    opened = await backend.open([Binder, Sheet])
    const dataSource = opened.dataSource as DataSource
    await createTables(dataSource, [Binder, Sheet], opened.database?.dialect.name ?? 'sqlite')
    binders = new TypeormRepository(dataSource, Binder)
    sheets = new TypeormRepository(dataSource, Sheet)
    await inAcme(async () => {
      await binders.create({ id: 'binder' })
      for (const id of IDS) await sheets.create({ id, text: textOf(id), binderId: 'binder' })
    })
  })
  after(() => opened?.close())

  const whole = (read: readonly Sheet[] | undefined) => {
    expect(read?.map(({ id, accountId }) => [id, accountId])).to.deep.equal(IDS.map((id) => [id, 'acme']))
    for (const { id, text } of read ?? []) expect(text === textOf(id), id).to.equal(true)
  }

  it('comes row by row, with its relations', () =>
    inAcme(async () => {
      whole((await sheets.list()).items)
      const { items } = await sheets.list({ with: ['binder'] })
      whole(items)
      expect(items.map(({ binder }) => binder?.id)).to.deep.equal(IDS.map(() => 'binder'))
    }))

  it('comes row by row, where it is that of a relation', () =>
    inAcme(async () => {
      const sent: string[] = []
      const stop = watchStatements(opened.dataSource as DataSource, ({ text }) => sent.push(text))
      const { items } = await binders.list({ with: ['sheets'] })
      stop()
      whole(items[0]?.sheets)
      expect(sent, 'the page, its sheets as one text, and row by row').to.have.length(3)
    }))
})
