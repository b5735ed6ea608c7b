import type { DataSource } from 'typeorm'
import { backends, describeOn, merged, pooled } from '../support/databases/backends.js'
import { atomicity } from './deletion/atomicity.js'
import { cascades } from './deletion/cascades.js'
import { openFamily, type OpenFamily, quietFamily } from './deletion/family-subject.js'
import { hooked } from './deletion/hooked.js'
import { purges } from './deletion/purges.js'
import { races } from './deletion/races.js'
import { refusals } from './deletion/refusals.js'
import { removals } from './deletion/removals.js'
import { undeletes } from './deletion/undeletes.js'

describeOn('deletes of resources that others refer to', [...backends, ...pooled, ...merged], (backend) => {
  const holder = { subject: undefined as never as OpenFamily }
  before(async () => {
    holder.subject = await openFamily(backend)
  })
  beforeEach(async () => {
    quietFamily()
    await holder.subject.clear()
  })
  after(() => holder.subject?.close())

  refusals(holder)
  cascades(holder)
  undeletes(holder)
  removals(holder)
  purges(holder)
  hooked(holder)
  races(holder)
  if (backend.name !== 'memory')
    atomicity(holder, () => holder.subject.dataSource as DataSource, backend.name)
})
