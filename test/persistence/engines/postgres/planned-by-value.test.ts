import { expect } from 'chai'
import { DataSource } from 'typeorm'
import { createTables } from '../../../../lib/persistence/schema/create-tables.js'
import { TypeormRepository } from '../../../../lib/persistence/sql/typeorm-repository.js'
import { inAcme } from '../../../conformance/repository/subject.js'
import { databases, describeOn } from '../../../support/databases/backends.js'
import { testDatabase } from '../../../support/databases/test-database.js'
import { Bee, Hive } from '../../relations/hives.js'

const postgres = databases.filter(({ name }) => name === 'postgres')

describeOn('a statement whose plan depends on its values', postgres, () => {
  let dataSource: DataSource
  let drop: () => Promise<void>
  before(async () => {
    const { url, drop: end } = await testDatabase('postgres')
    drop = end
    dataSource = await new DataSource({
      type: 'postgres',
      url,
      entities: [Hive, Bee],
      poolSize: 1,
    }).initialize()
    await createTables(dataSource, [Hive, Bee], 'postgres')
  })
  after(async () => {
    await dataSource?.destroy()
    await drop?.()
  })

  it('is not kept prepared, unlike one that finds rows by their keys', () =>
    inAcme(async () => {
      const hives = new TypeormRepository(dataSource, Hive)
      const bees = new TypeormRepository(dataSource, Bee)
      await hives.create({ id: 'h', title: 'A hive' })
      await bees.create({ id: 'b', hiveId: 'h' })
      for (let run = 0; run < 8; run++) {
        await hives.list()
        await hives.list({ filter: 'title = "A hive"', orderBy: 'title desc' })
        await hives.list({ search: 'hive' })
        await hives.count({ filter: 'title = "A hive"' })
        await hives.list({ with: ['bees'] })
        await bees.list({ with: ['hive'] })
        await hives.get('h')
        await hives.batchGet(['h'])
        await hives.update('h', { title: 'A hive' }, ['title'])
      }
      const kept: readonly { readonly statement: string }[] = await dataSource.query(
        'SELECT statement FROM pg_prepared_statements',
      )
      const texts = kept.map(({ statement }) => statement)
      expect(texts.filter((text) => /LIMIT|count\(|tsquery|"hive_id" (=|IN)/i.test(text))).to.deep.equal([])
      const ofKey = texts.filter((text) => /"id" = /.test(text))
      expect(ofKey.filter((text) => text.startsWith('SELECT'))).to.have.length.greaterThan(0)
      expect(ofKey.filter((text) => text.startsWith('UPDATE'))).to.have.length(1)
    }))
})
