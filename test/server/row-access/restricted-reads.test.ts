import { RequestContext } from '../../../lib/context.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import { RestrictedRepository } from '../../../lib/server/row-access/restricted-repository.js'
import { Task } from '../../support/entities/plans.js'
import { rejection } from '../../support/rejection.js'

describe('a restricted repository', () => {
  const own = { isNone: false, where: undefined, test: undefined, check: undefined }
  const decided = { own, readable: () => own, explain: () => {} }
  const tasks = new RestrictedRepository(new MemoryRepository<object>(Task), decided, 'acts')

  it('refuses to read relations together with its rows', async () => {
    const read = { with: ['project'] } as never
    await RequestContext.as({ subject: 'ada', tenant: 'acme', groups: [] }, async () => {
      await rejection(tasks.get('t1', read), TypeError, /^with: /)
      await rejection(tasks.batchGet(['t1'], read), TypeError, /^with: /)
      await rejection(tasks.list(read), TypeError, /^with: /)
    })
  })

  it('refuses a filter that may lead to other resources', async () => {
    const options = { through: ['project'] }
    await RequestContext.as({ subject: 'ada', tenant: 'acme', groups: [] }, async () => {
      await rejection(tasks.list({ filter: 'project:*' }, options), TypeError)
      await rejection(tasks.count({ filter: 'project:*' }, options), TypeError)
      await rejection(tasks.exists({ filter: 'project:*' }, options), TypeError)
    })
  })
})
