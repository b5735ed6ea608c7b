import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { RequestContext } from '../../lib/context.js'
import { DeclarationError } from '../../lib/errors.js'
import { createTables } from '../../lib/persistence/create-tables.js'
import { TypeormRepository } from '../../lib/persistence/typeorm-repository.js'
import { Widget } from '../../examples/widgets/widget.js'
import { databases, describeOn } from '../support/backends.js'
import { rejection } from '../support/rejection.js'

const context = new RequestContext({ principal: { tenant: 'ACME', subject: 'ada', groups: [], scopes: [] } })

describeOn(
  'a table whose collation takes ACME for acme',
  databases.filter(({ name }) => name === 'mariadb'),
  ({ open }) => {
    let dataSource: DataSource
    let close: () => Promise<void>
    before(async () => {
      const backend = await open([Widget])
      dataSource = backend.dataSource as DataSource
      close = backend.close
      const query = (text: string, values?: unknown[]) =>
        dataSource.query(text.replaceAll('utf8mb4_nopad_bin', 'utf8mb4_general_ci'), values)
      await createTables({ query }, [Widget], 'mariadb')
    })
    after(() => close?.())

    it('is refused by every operation, with the columns and what to do', async () => {
      const widgets = new TypeormRepository(dataSource, Widget)
      for (const attempt of [
        () => widgets.get('a', { context }),
        () => widgets.list({}, { context }),
        () => widgets.create({ id: 'a' }, { context }),
      ]) {
        const { problems } = await rejection(attempt(), DeclarationError)
        expect(problems).to.have.length(2)
        expect(problems.join()).to.match(/account_id has the collation utf8mb4_general_ci/)
      }
      await dataSource.query('DROP TABLE widgets')
      await createTables(dataSource, [Widget], 'mariadb')
      expect((await widgets.create({ id: 'a' }, { context })).accountId).to.equal('ACME')
    })
  },
)
