import type { DataSource } from 'typeorm'
import {
  type BackendName,
  backends,
  describeOn,
  distributed,
  coalesced,
  partsOn,
  pooled,
} from '../support/databases/backends.js'
import { atomicity } from './repository/atomicity.js'
import { increments } from './repository/concurrency/increments.js'
import { killed } from './repository/concurrency/killed.js'
import { locks } from './repository/concurrency/locks.js'
import { type OpenSubject, openSubject } from './repository/open-subject.js'
import { managers, managersInMemory } from './repository/transactions/typeorm-inside.js'
import { tenantStatements } from './repository/tenant-statements.js'
import { REPOSITORY_PARTS } from './repository.js'

/** Where a connection has a server that can end it, and nothing in between. */
const SERVERS: readonly BackendName[] = ['postgres', 'mariadb', 'mysql8']

/** The statements without the tenant as a value that the suite sends on PostgreSQL. */
const SENT = {
  citus: ['a check of a credential that fails takes the work of the dearest spec of all tenants'],
  coalescing: ['a new public id is looked for', 'several calls share a statement'],
  others: [
    ...(['a new public id is looked for', 'expired rows are deleted'] as const),
    'several rows are updated by one statement',
  ],
} as const

describeOn('repository', [...backends, ...pooled, ...coalesced, ...distributed], (backend) => {
  const holder = { subject: undefined as never as OpenSubject }
  const { name, form } = backend
  const dataSource = () => holder.subject.dataSource as DataSource
  before(async () => {
    holder.subject = await openSubject(backend)
  })
  beforeEach(() => holder.subject.clear())
  after(() => holder.subject?.close())

  const conformance = () => {
    for (const part of partsOn(backend, 'repository', REPOSITORY_PARTS)) part(holder)
  }
  if (name === 'postgres')
    describe('with the tenant in each statement', () => {
      tenantStatements(dataSource, SENT[form === 'citus' || form === 'coalescing' ? form : 'others'])
      conformance()
    })
  else conformance()
  const ofDatabases = {
    atomicity: () => atomicity(holder, dataSource),
    managers: () => managers(holder),
    killed: () => (SERVERS.includes(name) ? killed(holder, dataSource, name) : undefined),
  }
  const rest = {
    increments: () => increments(holder, name),
    locks: () => locks(holder, name),
    ...(name === 'memory' ? { managers: () => managersInMemory(holder) } : ofDatabases),
  }
  for (const part of partsOn(backend, 'repository', rest)) part()
})
