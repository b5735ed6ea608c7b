import { expect } from 'chai'
import { AsyncLocalStorage } from 'node:async_hooks'
import type { DataSource, EntitySubscriberInterface } from 'typeorm'
import { RequestContext } from '../../../lib/context.js'
import { ErrNotFound } from '../../../lib/errors.js'
import { type SentStatement, watchStatements } from '../../../lib/persistence/engines/watch-statements.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import {
  type HookedSubject,
  hookedOptions,
  openHooked,
  quiet,
} from '../../conformance/hooks/hooked-subject.js'
import { asTenant } from '../../conformance/repository/subject.js'
import { databases, describeOn } from '../../support/databases/backends.js'
import { doing, Task, reported } from '../../support/entities/hooked.js'
import { rejection } from '../../support/rejection.js'

const TENANTS: readonly string[] = ['acme', 'globex', 'initech', 'umbrella']
/** Calls of four tenants, each with a key that the others have a row with as well. */
const calls = TENANTS.flatMap((tenant) => Array.from({ length: 16 }, (_, i) => ({ tenant, key: `k${i}` })))

const TaskRepository = repositoryOf(Task)
/** What the code around a call knows, and no repository. */
const around = new AsyncLocalStorage<string>()

const postgres = databases.filter(({ name }) => name === 'postgres')

describeOn('merged reads of an entity with hooks', postgres, (backend) => {
  let subject: HookedSubject
  let dataSource: DataSource
  let together: SentStatement[] = []
  before(async () => {
    subject = await openHooked(backend)
    dataSource = subject.dataSource as DataSource
    for (const { tenant, key } of calls)
      await asTenant(tenant, () =>
        subject.tasks.create({ id: key, title: `${tenant} ${key}`, code: key, revision: 0, tags: {} }),
      )
    watchStatements(dataSource, (statement) => {
      if (statement.calls > 1) together.push(statement)
    })
  })
  beforeEach(quiet)
  after(() => {
    quiet()
    return subject?.close()
  })

  const get = (tasks: HookedSubject['tasks'], { tenant, key }: (typeof calls)[0]) =>
    asTenant(tenant, () => around.run(`${tenant}/${key}`, () => tasks.get(key)))
  const getAll = (tasks: HookedSubject['tasks']) => Promise.all(calls.map((call) => get(tasks, call)))
  /** A repository that has read the rules of its table. */
  const warm = async () => {
    const tasks = new TaskRepository(dataSource, hookedOptions)
    together = []
    while (together.length === 0) await getAll(tasks)
    reported.length = 0
    together = []
    return tasks
  }

  it('call @AfterLoad once for each call, on its own row and in its own context', async () => {
    const tasks = await warm()
    doing.AfterLoad = async (task) => {
      const before = [RequestContext.current().tenant, around.getStore()]
      await new Promise((resolve) => setImmediate(resolve))
      const after = [RequestContext.current().tenant, around.getStore()]
      expect(after).to.deep.equal(before)
      task.label = `${after.join(' ')} ${task.accountId}/${task.id}`
    }
    const found = await getAll(tasks)
    expect(together).to.have.length.greaterThan(0)
    expect(Math.max(...together.map(({ calls }) => calls))).to.be.greaterThan(20)
    expect(found.map(({ label }) => label)).to.deep.equal(
      calls.map(({ tenant, key }) => `${tenant} ${tenant}/${key} ${tenant}/${key}`),
    )
    expect(reported).to.have.length(calls.length)
  })

  it('give a subscriber a manager, in the context of each call', async () => {
    const subscriber = {
      listenTo: () => Task,
      afterLoad: async (task: Task, event?: { readonly manager: DataSource['manager'] }) => {
        const { tenant = '' } = RequestContext.current()
        const rows = await event?.manager.countBy(Task, { accountId: tenant })
        task.label = `${around.getStore()} ${rows}`
      },
    } satisfies EntitySubscriberInterface<Task>
    dataSource.subscribers.push(subscriber)
    try {
      const found = await getAll(await warm())
      expect(together).to.have.length.greaterThan(0)
      expect(found.map(({ label }) => label)).to.deep.equal(
        calls.map(({ tenant, key }) => `${tenant}/${key} 16`),
      )
    } finally {
      dataSource.subscribers.splice(0)
    }
  })

  it('fail the one call whose hook throws, and not a call of another tenant for the same key', async () => {
    const tasks = await warm()
    doing.AfterLoad = ({ accountId, id }) => {
      if (accountId === 'globex' && id === 'k3') throw new ErrNotFound()
    }
    const outcomes = await Promise.allSettled(calls.map((call) => get(tasks, call)))
    expect(together).to.have.length.greaterThan(0)
    for (const [i, { tenant, key }] of calls.entries())
      if (tenant === 'globex' && key === 'k3')
        expect(outcomes[i]).to.have.property('reason').that.is.instanceOf(ErrNotFound)
      else expect(outcomes[i]).to.have.nested.property('value.title', `${tenant} ${key}`)
  })

  it('may read in the hook, and name the hook that reads itself without end', async () => {
    const tasks = await warm()
    doing.AfterLoad = async (task) => {
      const key = Number(task.id.slice(1))
      if (key > 0) task.label = (await tasks.get(`k${key - 1}`)).title
    }
    const found = await getAll(tasks)
    expect(together).to.have.length.greaterThan(0)
    for (const [i, { tenant, key }] of calls.entries())
      expect(found[i]?.label).to.equal(key === 'k0' ? undefined : `${tenant} k${Number(key.slice(1)) - 1}`)
    doing.AfterLoad = async ({ id }) => void (await tasks.get(id))
    await Promise.all(
      calls.map((call) =>
        rejection(get(tasks, call), TypeError, /^@AfterLoad\(\) of Task is nested in 32 hooks/),
      ),
    )
  })

  it('do not merge inside of a transaction, where the hooks have its manager', async () => {
    const tasks = await warm()
    doing.AfterLoad = async ({ id }) => {
      await tasks.update(id, { slug: 'seen' }, ['slug'])
      if (id === 'k5') throw new ErrNotFound()
    }
    const failing = asTenant('acme', () =>
      tasks.transaction(async () => {
        for (const key of ['k3', 'k4', 'k5']) await tasks.get(key)
      }),
    )
    await rejection(failing, ErrNotFound)
    expect(together).to.deep.equal([])
    quiet()
    expect(await asTenant('acme', async () => (await tasks.get('k3')).slug)).to.equal(undefined)
  })
})
