import { expect } from 'chai'
import { Column, Entity, PrimaryColumn, Unique } from 'typeorm'
import { Resource } from '../../../decorators/resource.js'
import { SoftDeletable } from '../../../decorators/soft-deletable.js'
import { TenantScoped } from '../../../decorators/tenant-scoped.js'
import { ErrConflict } from '../../../lib/errors.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { collated } from '../../conformance/repository/open-subject.js'
import { inAcme, rejection } from '../../conformance/repository/subject.js'
import { databases, describeOn } from '../../support/databases/backends.js'

/** Named as the statement of a batch names its own parts, and worse. */
@Resource({ type: 'hostile' })
@Entity('l')
@TenantScoped()
@SoftDeletable()
@Unique(['o'])
class Hostile {
  @PrimaryColumn({ name: 'key' }) id!: string
  @Column({ name: 'tenant' }) k!: string
  @Column({ name: 'v0' }) t!: string
  @Column({ name: 'o' }) o!: string
  @Column({ name: 'Quo"te`d; --' }) quoted!: string
  accountId!: string
  deleteTime?: Date
}

class HostileRepository extends repositoryOf(Hostile) {}

const row = (id: string, o: string) => ({ id, k: 'k', t: 't', o, quoted: `'"` })

describeOn('a batch in one statement', databases, (backend) => {
  it('stands names that it uses itself', async () => {
    const open = await backend.open([Hostile])
    try {
      await createTables(collated(open.dataSource!, backend), [Hostile], open.database!.dialect.name)
      const repository = new HostileRepository(open.dataSource!)
      await inAcme(async () => {
        for (const id of ['a', 'b', 'c']) await repository.create(row(id, id))
        const items = ['c', 'a'].map((key) => ({
          key,
          entity: { k: `k${key}`, t: `t${key}`, o: `o${key}`, quoted: `"${key}` } as Hostile,
          fieldMask: [] as const,
        }))
        const updated = await repository.batchUpdate(items)
        expect(updated.map(({ id, k, t, o, quoted }) => [id, k, t, o, quoted])).to.deep.equal([
          ['c', 'kc', 'tc', 'oc', '"c'],
          ['a', 'ka', 'ta', 'oa', '"a'],
        ])
        await repository.batchDelete(['b', 'a'])
        expect((await repository.list()).items.map(({ id }) => id)).to.deep.equal(['c'])
      })
    } finally {
      await open.close()
    }
  })

  for (const count of [2, 100]) {
    it(`writes unique values in key order wherever ${count} rows lie`, async () => {
      const open = await backend.open([Hostile])
      try {
        await createTables(collated(open.dataSource!, backend), [Hostile], open.database!.dialect.name)
        const repository = new HostileRepository(open.dataSource!)
        await inAcme(async () => {
          const ids = Array.from({ length: count }, (_, i) => `id${String(i).padStart(4, '0')}`)
          for (const id of ids.toReversed()) await repository.create(row(id, id))
          if (backend.name === 'postgres') await open.dataSource!.query('ANALYZE l')
          const shifted = (to: (i: number) => string) =>
            ids.map((key, i) => ({ key, entity: { o: to(i) }, fieldMask: ['o'] as const }))
          // Each takes what the one before it has left.
          const updated = await repository.batchUpdate(shifted((i) => ids[i - 1] ?? 'free'))
          expect(updated.map(({ o }) => o)).to.deep.equal(['free', ...ids.slice(0, -1)])
          // Each takes what the next one still has.
          await rejection(repository.batchUpdate(shifted((i) => ids[i] as string)), ErrConflict)
        })
      } finally {
        await open.close()
      }
    })
  }
})
