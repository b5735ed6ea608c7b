import type { DataSource } from 'typeorm'
import { backends, describeOn, pooled } from '../support/databases/backends.js'
import { atomicity } from './repository/atomicity.js'
import { locks } from './repository/concurrency/locks.js'
import { type OpenSubject, openSubject } from './repository/open-subject.js'
import { managers, managersInMemory } from './repository/transactions/typeorm-inside.js'
import { repositoryConformance } from './repository.js'

describeOn('repository', [...backends, ...pooled], (backend) => {
  const holder = { subject: undefined as never as OpenSubject }
  before(async () => {
    holder.subject = await openSubject(backend)
  })
  beforeEach(() => holder.subject.clear())
  after(() => holder.subject?.close())

  repositoryConformance(holder)
  locks(holder, backend.name)
  if (backend.name === 'memory') return managersInMemory(holder)
  atomicity(holder, () => holder.subject.dataSource as DataSource)
  managers(holder)
})
