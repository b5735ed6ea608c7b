import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { RequestContext } from '../../lib/context.js'
import { createTables } from '../../lib/persistence/create-tables.js'
import { TypeormRepository } from '../../lib/persistence/typeorm-repository.js'
import { Widget } from '../../examples/widgets/widget.js'
import { databases, describeOn } from '../support/backends.js'

const context = new RequestContext({ principal: { tenant: 'acme', subject: 'ada', groups: [], scopes: [] } })

describeOn(
  'rows of another writer',
  databases.filter(({ name }) => name === 'postgres' || name === 'mariadb'),
  ({ open }) => {
    let dataSource: DataSource
    let close: () => Promise<void>
    before(async () => {
      const backend = await open([Widget])
      dataSource = backend.dataSource as DataSource
      close = backend.close
      await createTables(dataSource, [Widget], backend.database?.dialect ?? 'postgres')
    })
    after(() => close?.())

    it('are walked once each, though their times differ by microseconds alone', async () => {
      const widgets = new TypeormRepository(dataSource, Widget)
      for (let i = 0; i < 9; i++) {
        const { id } = await widgets.create({ id: `w${8 - i}`, displayName: 'x' }, { context })
        await dataSource.query(
          `UPDATE widgets SET create_time = '2026-01-01 00:00:00.00100${i}' WHERE id = '${id}'`,
        )
      }
      const seen: string[] = []
      let pageToken = ''
      do {
        const page = await widgets.list({ orderBy: 'create_time', pageSize: 2, pageToken }, { context })
        seen.push(...page.items.map(({ id }) => id))
        pageToken = page.nextPageToken
      } while (pageToken !== '' && seen.length < 20)
      expect(seen).to.deep.equal(['w8', 'w7', 'w6', 'w5', 'w4', 'w3', 'w2', 'w1', 'w0'])
    })
  },
)
