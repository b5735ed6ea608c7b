import type { DataSource } from 'typeorm'
import { databases, describeOn } from '../../support/databases/backends.js'
import { specimensNamed } from '../../support/entities/specimen.js'
import { drilling } from '../../support/drill.js'
import { atomicity } from '../repository/atomicity.js'
import { increments } from '../repository/concurrency/increments.js'
import { locks } from '../repository/concurrency/locks.js'
import { type OpenSubject, openSubject } from '../repository/open-subject.js'
import { REPOSITORY_PARTS } from '../repository.js'
import { repositoryContract } from '../../../lib/testing/index.js'

describeOn('a repository of columns that TypeORM names', databases, ({ name, ...backend }) => {
  const holder = { subject: undefined as never as OpenSubject }
  before(async () => {
    holder.subject = await openSubject({ name, ...backend }, specimensNamed('typeorm'))
  })
  beforeEach(() => holder.subject.clear())
  after(() => holder.subject?.close())

  const parts = [
    ...Object.values(REPOSITORY_PARTS).map((part) => () => part(holder)),
    () => increments(holder, name),
    () => locks(holder, name),
    () => atomicity(holder, () => holder.subject.dataSource as DataSource),
  ]
  const at = Math.max(0, ['sqlite', 'postgres', 'mariadb'].indexOf(name))
  for (const [index, part] of parts.entries()) if (drilling || (index + at) % 3 === 0) part()

  if (drilling || name === 'postgres')
    describe('repositoryContract', () => {
      repositoryContract(() =>
        Promise.resolve({
          repository: holder.subject.specimens,
          make: (n: number) => ({ title: `title ${n}`, code: `code-${n}` }),
          change: { patch: { title: 'changed', count: 7 }, mask: ['title', 'count'] },
        }),
      )
    })
})
