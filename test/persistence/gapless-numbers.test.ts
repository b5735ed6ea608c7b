import { expect } from 'chai'
import { basename } from 'node:path'
import type { DataSource } from 'typeorm'
import { RequestContext } from '../../lib/context.js'
import type { Repository } from '../../lib/persistence/contract/repository.js'
import { createTables } from '../../lib/persistence/schema/create-tables.js'
import { collated } from '../conformance/repository/open-subject.js'
import { databases, describeOn, type OpenBackend } from '../support/databases/backends.js'
import { compiled } from '../support/root.js'
import { type PageFolder, pageFolder } from '../support/sources/page-module.js'

const PAGE = 'docs/guides/gapless-numbers.md'

interface Invoice {
  id: string
  number: number
  title: string
}

interface Sample {
  readonly Counter: new () => object
  readonly Invoice: new () => Invoice
  readonly InvoiceRepository: new (dataSource: DataSource) => Repository<Invoice>
}

/** The code of the guide, as it is on the page. */
describeOn(`invoice-repository.ts of ${PAGE}`, databases, (on) => {
  let page: PageFolder
  let backend: OpenBackend
  let invoices: Repository<Invoice>

  before(async function () {
    if (basename(compiled) !== 'dist') return this.skip()
    page = pageFolder(PAGE)
    const exports = await page.load('invoice-repository.ts')
    const { Counter, Invoice, InvoiceRepository } = exports as unknown as Sample
    backend = await on.open([Counter, Invoice])
    const dataSource = backend.dataSource as DataSource
    await createTables(collated(dataSource, on), [Counter, Invoice], backend.database!.dialect.name)
    invoices = new InvoiceRepository(dataSource)
  })
  after(async () => {
    await backend?.close()
    page?.remove()
  })

  const numbersOf = (tenant: string) =>
    RequestContext.as({ tenant, subject: 'ada' }, async () => {
      // A title of more than 100 characters fails after its number was taken.
      const settled = await Promise.allSettled(
        Array.from({ length: 20 }, (_, i) => invoices.create({ title: 'x'.repeat(i % 4 === 3 ? 101 : 9) })),
      )
      expect(settled.filter(({ status }) => status === 'rejected')).to.have.length(5)
      const { items } = await invoices.list({ pageSize: 100 })
      return items.map(({ number }) => number).sort((a, b) => a - b)
    })

  it('counts from 1 without a gap for each tenant, also if creates fail', async () => {
    const counted = await Promise.all(['acme', 'globex'].map(numbersOf))
    const wanted = Array.from({ length: 15 }, (_, i) => i + 1)
    expect(counted).to.deep.equal([wanted, wanted])
  })
})
