import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { tableMigrations } from '../../../lib/persistence/schema/table-migrations.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import { NUMBERED, type Step, type Ticket } from './numbered.js'

describeOn('tables of numbers that the database mints', backends, (backend) => {
  it('creates them by migration files', async () => {
    if (!['postgres', 'mariadb'].includes(backend.name)) return
    const entities = NUMBERED.flatMap(({ Ticket, Step, Mark }) => [Ticket, Step, Mark])
    const { dataSource, close } = await backend.open(entities)
    try {
      const named = Object.fromEntries(entities.map((entity, at) => [`entity${at}`, entity]))
      for (const { sqlFor } of tableMigrations(named)) {
        const { up } = sqlFor(backend.name === 'postgres' ? 'postgres' : 'mysql')
        for (const text of up.split(/;\s*$/m).filter((one) => /^\s*\w/m.test(one.replace(/^--.*$/gm, ''))))
          await dataSource?.query(text)
      }
      if (dataSource === undefined) return
      await applyBaseline(dataSource)
      await RequestContext.as({ tenant: 'acme', subject: 'ada' }, async () => {
        for (const { Ticket, Step, valueOf } of NUMBERED) {
          const ticket = await new (repositoryOf(Ticket))(dataSource).create({ title: 'a' } as Ticket)
          expect(ticket.id).to.equal(valueOf(1))
          const step = await new (repositoryOf(Step))(dataSource).create({ ticketId: ticket.id } as Step)
          expect(step.id).to.equal(valueOf(1))
        }
      })
    } finally {
      await close()
    }
  })
})
