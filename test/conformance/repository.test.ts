import type { DataSource } from 'typeorm'
import { type BackendName, backends, describeOn, merged, pooled } from '../support/databases/backends.js'
import { atomicity } from './repository/atomicity.js'
import { increments } from './repository/concurrency/increments.js'
import { killed } from './repository/concurrency/killed.js'
import { locks } from './repository/concurrency/locks.js'
import { type OpenSubject, openSubject } from './repository/open-subject.js'
import { managers, managersInMemory } from './repository/transactions/typeorm-inside.js'
import { tenantStatements } from './repository/tenant-statements.js'
import { repositoryConformance } from './repository.js'

/** Where a connection has a server that can end it, and nothing in between. */
const SERVERS: readonly BackendName[] = ['postgres', 'mariadb', 'mysql8']

describeOn('repository', [...backends, ...pooled, ...merged], (backend) => {
  const holder = { subject: undefined as never as OpenSubject }
  before(async () => {
    holder.subject = await openSubject(backend)
  })
  beforeEach(() => holder.subject.clear())
  after(() => holder.subject?.close())

  if (backend.name === 'postgres')
    describe('with the tenant in each statement', () => {
      tenantStatements(() => holder.subject.dataSource as DataSource)
      repositoryConformance(holder)
    })
  else repositoryConformance(holder)
  increments(holder, backend.name)
  locks(holder, backend.name)
  if (backend.name === 'memory') return managersInMemory(holder)
  atomicity(holder, () => holder.subject.dataSource as DataSource)
  managers(holder)
  if (SERVERS.includes(backend.name))
    killed(holder, () => holder.subject.dataSource as DataSource, backend.name)
})
