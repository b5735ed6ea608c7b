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
import { drilling } from '../support/drill.js'
import { atomicity } from './deletion/atomicity.js'
import { cascades } from './deletion/cascades.js'
import { openFamily, type OpenFamily, quietFamily } from './deletion/family-subject.js'
import { hooked } from './deletion/hooked.js'
import { purges } from './deletion/purges.js'
import { races } from './deletion/races.js'
import { refusals } from './deletion/refusals.js'
import { removals } from './deletion/removals.js'
import { undeletes } from './deletion/undeletes.js'

/**
 * Faults and races are asked where transactions run beside each other: of what locks rows as it reads, and of
 * what does not. The drill asks them everywhere.
 */
const CONCURRENT: readonly BackendName[] = ['postgres', 'mariadb']

const SUBJECT = 'deletes of resources that others refer to'

describeOn(SUBJECT, [...backends, ...pooled, ...coalesced, ...distributed], (backend) => {
  const holder = { subject: undefined as never as OpenFamily }
  const { name, form } = backend
  before(async () => {
    holder.subject = await openFamily(backend)
  })
  beforeEach(async () => {
    quietFamily()
    await holder.subject.clear()
  })
  after(() => holder.subject?.close())

  const parts = { refusals, cascades, undeletes, removals, purges, hooked }
  for (const part of partsOn(backend, SUBJECT, parts)) part(holder)
  const isConcurrent = CONCURRENT.includes(name) && (form === undefined || form === 'citus')
  if (!drilling && !isConcurrent) return
  races(holder)
  if (name !== 'memory') atomicity(holder, () => holder.subject.dataSource as DataSource, name)
})
