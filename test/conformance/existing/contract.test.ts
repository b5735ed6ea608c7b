import type { DataSource } from 'typeorm'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { repositoryContract } from '../../../lib/testing/contract/repository-contract.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import { collated } from '../repository/open-subject.js'
import { engineOf, Haul, Quarried, QuietShift, Shift, SHIFTS } from './existing-entities.js'

describeOn('existing tables', backends, (backend) => {
  const engine = engineOf(backend.name)
  let dataSource: DataSource | undefined
  let close: () => Promise<void>

  before(async () => {
    const opened = await backend.open([Quarried, Haul, Shift, QuietShift])
    ;({ close, dataSource } = opened)
    const { database } = opened
    if (dataSource === undefined || database === undefined || engine === undefined) return
    await createTables(collated(dataSource, backend), [Quarried, Haul], database.dialect.name)
    for (const text of SHIFTS[engine]) await dataSource.query(text)
    await applyBaseline(dataSource)
  })
  after(() => close())

  describe('with a primary key of the id alone, and NULLs', () => {
    repositoryContract<Quarried>(async () => {
      await dataSource?.query('DELETE FROM quarried')
      return {
        repository:
          dataSource === undefined
            ? new (memoryRepositoryOf(Quarried))()
            : new (repositoryOf(Quarried))(dataSource),
        make: (n) => ({ id: `q${n}`, code: `c${n}`, title: `Quarried ${n}` }),
        change: { patch: { title: 'Changed' }, mask: ['title'] },
      }
    })
  })

  if (engine === undefined) return
  for (const [name, entity] of [
    ['with events', Shift],
    ['without events', QuietShift],
  ] as const)
    describe(`with columns that the table sets, ${name}`, () => {
      repositoryContract<Shift | QuietShift>(async () => {
        await dataSource?.query('DELETE FROM shifts')
        return {
          repository: new (repositoryOf<Shift | QuietShift>(entity))(dataSource as DataSource),
          make: (n) => ({ id: n, title: `Shift ${n}` }),
          change: { patch: { title: 'CHANGED' }, mask: ['title'] },
        }
      })
    })
})
