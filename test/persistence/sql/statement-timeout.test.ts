import { DeadlineExceeded } from '../../../lib/errors.js'
import { executorOf } from '../../../lib/persistence/engines/executor-of.js'
import { current, transaction } from '../../../lib/persistence/sql/transaction.js'
import { openSubject, type OpenSubject } from '../../conformance/repository/open-subject.js'
import { draft, inAcme } from '../../conformance/repository/subject.js'
import { databases, describeOn } from '../../support/databases/backends.js'
import { rejection } from '../../support/rejection.js'
import { run } from '../../support/databases/statement.js'

describeOn(
  'a statement that the server ends because it took too long',
  databases.filter(({ name }) => name === 'postgres' || name === 'mariadb'),
  (backend) => {
    let subject: OpenSubject
    before(async () => {
      subject = await openSubject(backend)
    })
    after(() => subject?.close())

    it('is DeadlineExceeded, not an error of ours', () =>
      inAcme(async () => {
        const { specimens, dataSource } = subject
        await specimens.create(draft({ id: 'a', title: 'A' }))
        const database = executorOf(dataSource!)
        const holder = await database.lease()
        try {
          await holder.control(backend.name === 'postgres' ? 'BEGIN' : 'START TRANSACTION')
          await run(holder, "UPDATE specimens SET title = 'B'")
          const limit =
            backend.name === 'postgres'
              ? 'SET LOCAL statement_timeout = 200'
              : 'SET SESSION max_statement_time = 0.2'
          const waiting = transaction(database, async () => {
            await run(current(database), limit)
            await specimens.update('a', { title: 'C' }, ['title'])
          })
          await rejection(waiting, DeadlineExceeded)
        } finally {
          await holder.control('ROLLBACK')
          holder.release()
        }
      }))
  },
)
