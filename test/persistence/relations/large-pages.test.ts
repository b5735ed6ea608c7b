import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { watchStatements } from '../../../lib/persistence/engines/watch-statements.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { inAcme } from '../../conformance/repository/subject.js'
import { databases, describeOn, type OpenBackend } from '../../support/databases/backends.js'
import { Bee, Hive } from './hives.js'

/** More together than comes as one text. */
const IDS = ['a', 'b', 'c'] as const
const textOf = (id: string) => `${id}"\u0001`.repeat(2 * 1024 * 1024)

const engines = databases.filter(({ name }) => name === 'sqlite' || name === 'postgres')

describeOn('a page of rows that are too large for one text', engines, (backend) => {
  let opened: OpenBackend
  let bees: TypeormRepository<Bee>
  let hives: TypeormRepository<Hive>
  before(async () => {
    opened = await backend.open([Hive, Bee])
    const dataSource = opened.dataSource as DataSource
    await createTables(dataSource, [Hive, Bee], opened.database?.dialect.name ?? 'sqlite')
    hives = new TypeormRepository(dataSource, Hive)
    bees = new TypeormRepository(dataSource, Bee)
    await inAcme(async () => {
      await hives.create({ id: 'hive' })
      for (const id of IDS) await bees.create({ id, note: textOf(id), hiveId: 'hive' })
    })
  })
  after(() => opened?.close())

  const whole = (read: readonly Bee[] | undefined) => {
    expect(read?.map(({ id, accountId }) => [id, accountId])).to.deep.equal(IDS.map((id) => [id, 'acme']))
    for (const { id, note } of read ?? []) expect(note === textOf(id), id).to.equal(true)
  }

  it('comes row by row, with its relations', () =>
    inAcme(async () => {
      whole((await bees.list()).items)
      const { items } = await bees.list({ with: ['hive'] })
      whole(items)
      expect(items.map(({ hive }) => hive?.id)).to.deep.equal(IDS.map(() => 'hive'))
    }))

  it('comes row by row, where it is that of a relation', () =>
    inAcme(async () => {
      const sent: string[] = []
      const stop = watchStatements(opened.dataSource as DataSource, ({ text }) => sent.push(text))
      const { items } = await hives.list({ with: ['bees'] })
      stop()
      whole(items[0]?.bees)
      expect(sent, 'the page, its bees as one text, and row by row').to.have.length(3)
    }))
})
