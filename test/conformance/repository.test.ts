import type { DataSource } from 'typeorm'
import { backends, describeOn, pooled } from '../support/backends.js'
import { atomicity } from './atomicity.js'
import { type OpenSubject, openSubject } from './open-subject.js'
import { repositoryConformance } from './repository.js'

describeOn('repository', [...backends, ...pooled], (backend) => {
  const holder = { subject: undefined as never as OpenSubject }
  before(async () => {
    holder.subject = await openSubject(backend)
  })
  beforeEach(() => holder.subject.clear())
  after(() => holder.subject?.close())

  repositoryConformance(holder)
  if (backend.name !== 'memory') atomicity(holder, () => holder.subject.dataSource as DataSource)
})
