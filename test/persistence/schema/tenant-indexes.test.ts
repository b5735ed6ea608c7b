import { expect } from 'chai'
import { Book } from '../../../examples/library/book.js'
import { Order } from '../../../examples/orders/order.js'
import { Widget } from '../../../examples/widgets/widget.js'
import { postgres } from '../../../lib/persistence/dialects/postgres.js'
import { tableOf } from '../../../lib/persistence/schema/table-of.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { Specimen } from '../../support/entities/specimen.js'
import { Ticket } from '../../support/entities/ticket.js'

/** Rules that hold across tenants: what they name is the only thing that a caller shows. */
const ACROSS_TENANTS = ['api_key_public_id']

describe('tables of tenants', () => {
  for (const entity of [Widget, Specimen, Ticket, Book, Order])
    it(`have the tenant in each unique rule: ${entity.name}`, () => {
      const model = resourceModel<object>(entity)
      expect(model.tenant?.column).to.equal('account_id')
      const { primaryKey, indexes } = tableOf(model, postgres)
      const rules = [
        ...(model.tenantInKey ? [primaryKey] : []),
        ...indexes.filter(({ unique }) => unique).map(({ columns }) => columns),
      ]
      const across = rules.filter((columns) => !columns.includes('account_id')).map(String)
      expect(across.filter((columns) => !ACROSS_TENANTS.includes(columns))).to.deep.equal([])
    })

  it('let a credential be found before its tenant is known', () => {
    const { indexes } = tableOf(resourceModel<object>(Specimen), postgres)
    expect(indexes.filter(({ unique }) => unique).map(({ columns }) => String(columns))).to.include.members(
      ACROSS_TENANTS,
    )
  })
})
