import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { executorOf } from '../../../lib/persistence/engines/executor-of.js'
import type { Lease } from '../../../lib/persistence/engines/executor/executor.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import type { BackendName } from '../../support/databases/backends.js'
import { everyStatementMayFail } from '../../support/databases/every-statement-may-fail.js'
import { column, run } from '../../support/databases/statement.js'
import { familyCases, type FamilyHolder, inAcme } from './family-subject.js'

const LONG_AGO = new Date('2001-01-01')

/** Everything that goes along goes, or nothing does. */
export const atomicity = (holder: FamilyHolder, dataSource: () => DataSource, backend: BackendName): void => {
  const { of, states, project, milestone, job, remark } = familyCases(holder)

  const everything = () =>
    inAcme(async () => {
      const stored: unknown[] = []
      for (const repository of Object.values(of()) as Repository<object>[])
        stored.push((await repository.list({ showDeleted: true, pageSize: 1000 })).items)
      return stored
    })
  const prepare = async () => {
    await holder.subject.clear()
    for (const id of ['p', 'q']) await project(id, { expireTime: LONG_AGO })
    await milestone('m', 'p')
    await job('a', { milestoneId: 'm' })
    await job('b', { aboveId: 'a' })
    await inAcme(async () => {
      await of().bookmarks.create({ id: 'k', projectId: 'p' })
      await of().projects.create({ id: 'gone' })
      await of().milestones.create({ id: 'with', projectId: 'gone' })
      await of().projects.delete('gone')
      await of().crates.create({ id: 'x' })
      await of().crates.create({ id: 'y', aroundId: 'x' })
      await of().bottles.create({ id: 'z', crateId: 'y' })
    })
    await remark('r', 'b')
  }
  const operations: Readonly<Record<string, () => Promise<unknown>>> = {
    delete: () => of().projects.delete('p', { force: true }),
    undelete: () => of().projects.undelete('gone'),
    batchDelete: () => of().projects.batchDelete(['p', 'q'], { force: true }),
    'hard delete': () => of().crates.delete('x'),
    purge: async () => {
      await of().remarks.delete('r')
      await of().projects.purgeExpired(new Date('2026-01-01'))
    },
  }

  describe('every statement may fail', () => {
    for (const [name, operation] of Object.entries(operations).filter(([each]) => each !== 'purge'))
      it(`deletes all rows of a ${name} or none`, async () => {
        let before: unknown
        const sent = await everyStatementMayFail(
          dataSource(),
          async () => {
            await prepare()
            before = await everything()
          },
          () => inAcme(operation),
          async (outcome) => {
            const after = await everything()
            if (outcome === 'succeeded') return void expect(after).to.not.deep.equal(before)
            expect(after).to.deep.equal(before)
            return 'prepared'
          },
        )
        expect(sent).to.be.greaterThan(3)
      })

    it('never purges a row and leaves a row that refers to it', async () => {
      await everyStatementMayFail(
        dataSource(),
        prepare,
        () => inAcme(operations['purge'] as () => Promise<unknown>),
        async () => {
          const left = await states()
          if (left['milestone m'] !== undefined) expect(left).to.have.property('project p')
          if (left['job b'] !== undefined) expect(left).to.have.property('milestone m')
          expect(left).to.have.property('bookmark k')
        },
      )
    })
  })

  if (backend !== 'postgres' && backend !== 'mariadb') return

  it('rolls the cascade back if the connection is killed before any statement', async () => {
    const isPostgres = backend === 'postgres'
    const database = executorOf(dataSource())
    const { lease } = database
    let [sent, fatal, position] = [0, 0, 0]
    database.lease = async (options) => {
      const inner = await lease.call(database, options)
      const [id] = await column(inner, isPostgres ? 'SELECT pg_backend_pid()' : 'SELECT CONNECTION_ID()')
      const next = async () => {
        if (++sent !== fatal) return
        await run(
          database,
          isPostgres ? `SELECT pg_terminate_backend(${id as string})` : `KILL ${id as string}`,
        )
      }
      const outer: Pick<Lease, 'run' | 'control'> = {
        run: async (...operands) => {
          await next()
          return inner.run(...operands)
        },
        control: async (text) => {
          await next()
          return inner.control(text)
        },
      }
      return Object.assign(Object.create(inner) as Lease, outer, {
        release: (how?: { readonly broken?: boolean }) => inner.release(how),
      })
    }
    try {
      await prepare()
      const before = await everything()
      for (position = 1; ; position++) {
        ;[sent, fatal] = [0, position]
        const outcome = await inAcme(() => of().projects.delete('p', { force: true })).then(
          () => true,
          () => false,
        )
        fatal = 0
        if (outcome) break
        expect(await everything(), `statement ${position}`).to.deep.equal(before)
      }
    } finally {
      database.lease = lease
    }
    expect(position).to.be.greaterThan(8)
  })
}
