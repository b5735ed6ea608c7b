import { expect } from 'chai'
import { Column, type DataSource, Entity, Index, PrimaryColumn, Unique } from 'typeorm'
import { Credential } from '../../decorators/credential.js'
import { ETag } from '../../decorators/server-set.js'
import { Resource } from '../../decorators/resource.js'
import { SoftDeletable } from '../../decorators/soft-deletable.js'
import { TenantScoped } from '../../decorators/tenant-scoped.js'
import { RequestContext } from '../../lib/context.js'
import { ErrConflict, ErrNotFound } from '../../lib/errors.js'
import { memoryRepositoryOf, repositoryOf } from '../../lib/persistence/repository-of.js'
import type { RepositoryOptions } from '../../lib/persistence/sql/typeorm-repository.js'
import { createTables } from '../../lib/persistence/schema/create-tables.js'
import type { EntityClass } from '../../lib/resource/resource-model.js'
import { CredentialMinter } from '../../lib/secrets/credential-minter.js'
import { snakeCase } from '../../lib/text/snake-case.js'
import { type Backend, backends, coalesced, describeOn, distributed } from '../support/databases/backends.js'
import { rejection } from '../support/rejection.js'
import { collated } from './repository/open-subject.js'

/** A unique rule in each of the forms of TypeORM. */
@Resource()
@Entity('slots')
@Unique(['projectId', 'title'])
@Unique('one_slot_per_desk', (slot: Slot) => [slot.desk, slot.hour] as never)
@Index('slots_by_weight', ['weight', 'accountId'])
@Index('slot_hours', ['hour', 'title'], { unique: true })
@TenantScoped()
@SoftDeletable()
class Slot {
  @PrimaryColumn({ length: 40 }) id!: string
  @Column({ length: 40 }) projectId!: string
  @Column({ length: 100 }) title!: string
  @Column({ length: 40, nullable: true }) desk?: string
  @Column({ nullable: true }) hour?: number
  @Column({ nullable: true }) @Unique(['badge']) badge?: string
  @Column({ nullable: true }) weight?: number
  @ETag() etag!: string

  accountId!: string
  deleteTime?: Date
}

/** Its key, and the public ids of its credentials, are unique among all tenants. */
@Resource()
@Entity('gates')
class Gate {
  @PrimaryColumn() id!: string
  @Column({ unique: true, nullable: true }) door?: string
  @Credential() apiKey?: Credential
  @Column() accountId!: string
}

/** Of no tenant. */
@Resource({ shared: true })
@Entity('towns')
@Unique(['zip', 'street'])
class Town {
  @PrimaryColumn() id!: string
  @Column() zip!: string
  @Column() street!: string
}

const options: RepositoryOptions = { minter: new CredentialMinter() }
const asTenant = <T>(tenant: string, fn: () => Promise<T>): Promise<T> =>
  RequestContext.as({ tenant, subject: 'ada' }, fn)
const inAcme = <T>(fn: () => Promise<T>): Promise<T> => asTenant('acme', fn)

async function open(backend: Backend) {
  const opened = await backend.open([Slot, Gate, Town])
  const { dataSource, database } = opened
  if (dataSource !== undefined && database !== undefined)
    await createTables(collated(dataSource, backend), [Slot, Gate, Town], database.dialect.name)
  await opened.distribute?.()
  const of = <E extends object>(entity: EntityClass<E>) =>
    dataSource === undefined
      ? new (memoryRepositoryOf(entity))(options)
      : new (repositoryOf(entity))(dataSource, options)
  return { ...opened, slots: of(Slot), gates: of(Gate), towns: of(Town) }
}

describeOn('unique rules', [...backends, ...coalesced, ...distributed], (backend) => {
  let on: Awaited<ReturnType<typeof open>>
  let count = 0
  const slot = (values: Partial<Slot>): Partial<Slot> => ({ projectId: 'p', title: `t${++count}`, ...values })
  const masked = (values: Partial<Slot>) => Object.keys(values).map(snakeCase) as never
  const conflict = async (work: Promise<unknown>): Promise<readonly string[]> => {
    const error = (await rejection(work, ErrConflict, '^persistence: conflict$')) as ErrConflict
    const violations = error.details.flatMap((one) => (one.kind === 'badRequest' ? one.violations : []))
    expect(violations.map(({ field }) => field)).to.deep.equal(error.fields)
    expect(JSON.stringify(error.details)).to.not.match(/acme|desk-1|taken-title/)
    return error.fields
  }

  before(async () => {
    on = await open(backend)
  })
  after(() => on?.close())

  it('apply per tenant, for every kind of column', async () => {
    const same = { projectId: 'p1', title: 'taken-title', desk: 'desk-1', hour: 1, badge: 'b1' }
    await inAcme(() => on.slots.create(slot(same)))
    await asTenant('other', () => on.slots.create(slot(same)))
  })

  it('name the fields of the violated rule, in every form of declaration', () =>
    inAcme(async () => {
      await on.slots.create(
        slot({ projectId: 'p2', title: 'taken-title', desk: 'desk-1', hour: 2, badge: 'b2' }),
      )
      const cases: [Partial<Slot>, string[]][] = [
        [{ projectId: 'p2', title: 'taken-title' }, ['project_id', 'title']],
        [{ desk: 'desk-1', hour: 2 }, ['desk', 'hour']],
        [{ title: 'taken-title', hour: 2 }, ['hour', 'title']],
        [{ badge: 'b2' }, ['badge']],
      ]
      for (const [values, fields] of cases) {
        expect(await conflict(on.slots.create(slot(values)))).to.deep.equal(fields)
        const { id } = await on.slots.create(slot({}))
        expect(await conflict(on.slots.update(id, values, masked(values)))).to.deep.equal(fields)
        const item = { key: id, entity: values, fieldMask: masked(values) }
        const other = await on.slots.create(slot({}))
        const untouched = { key: other.id, entity: { weight: 1 }, fieldMask: ['weight'] as never }
        expect(await conflict(on.slots.batchUpdate([untouched, item]))).to.deep.equal(fields)
        expect((await on.slots.get(other.id)).etag).to.equal(other.etag)
      }
    }))

  it('name the combination that is taken', () =>
    inAcme(async () => {
      await on.slots.create(slot({ projectId: 'p3', title: 'x' }))
      const error = (await rejection(
        on.slots.create(slot({ projectId: 'p3', title: 'x' })),
        ErrConflict,
      )) as ErrConflict
      expect(error.details).to.deep.equal([
        { kind: 'errorInfo', reason: 'ALREADY_EXISTS' },
        {
          kind: 'badRequest',
          violations: [
            {
              field: 'project_id',
              description: 'is already taken together with title',
              reason: 'ALREADY_EXISTS',
            },
            {
              field: 'title',
              description: 'is already taken together with project_id',
              reason: 'ALREADY_EXISTS',
            },
          ],
        },
      ])
    }))

  it('compare every column, with case and trailing spaces', () =>
    inAcme(async () => {
      for (const title of ['a', 'A', 'a ', 'ä', 'ａ']) await on.slots.create(slot({ projectId: 'p4', title }))
      await on.slots.create(slot({ projectId: 'P4', title: 'a' }))
    }))

  it('allow any number of rows with a missing value', () =>
    inAcme(async () => {
      await on.slots.create(slot({ desk: 'desk-5' }))
      await on.slots.create(slot({ desk: 'desk-5' }))
      await on.slots.create(slot({ hour: 5 }))
      await on.slots.create(slot({ hour: 5 }))
    }))

  it('apply to live rows: a deleted row frees its values, and cannot be undeleted if they are taken', () =>
    inAcme(async () => {
      const same = { projectId: 'p6', title: 'taken-title' }
      const first = await on.slots.create(slot(same))
      await on.slots.delete(first.id)
      const next = await on.slots.create(slot(same))
      await on.slots.delete(next.id)
      const last = await on.slots.create(slot(same))
      expect(await conflict(on.slots.undelete(first.id))).to.deep.equal(['project_id', 'title'])
      await rejection(on.slots.get(first.id), ErrNotFound)
      await on.slots.update(last.id, { projectId: 'p7' }, ['project_id'])
      expect((await on.slots.undelete(first.id)).title).to.equal('taken-title')
      expect(await conflict(on.slots.undelete(next.id))).to.deep.equal(['project_id', 'title'])
    }))

  it('are checked row by row: a batch item may take a value that an earlier item freed', () =>
    inAcme(async () => {
      const a = await on.slots.create(slot({ id: 'swap-a', projectId: 'p8', title: 'one' }))
      const b = await on.slots.create(slot({ id: 'swap-b', projectId: 'p8', title: 'two' }))
      const rename = (key: string, title: string) => ({
        key,
        entity: { title },
        fieldMask: ['title'] as never,
      })
      await on.slots.batchUpdate([rename(a.id, 'three'), rename(b.id, 'one')])
      expect((await on.slots.get(b.id)).title).to.equal('one')
      expect(await conflict(on.slots.batchUpdate([rename(a.id, 'one'), rename(b.id, 'four')]))).to.deep.equal(
        ['project_id', 'title'],
      )
    }))

  it('leave a transaction usable after a caught conflict', () =>
    inAcme(() =>
      on.slots.transaction(async () => {
        await on.slots.create(slot({ projectId: 'p9', title: 'x' }))
        expect(await conflict(on.slots.create(slot({ projectId: 'p9', title: 'x' })))).to.have.length(2)
        await on.slots.create(slot({ projectId: 'p9', title: 'y' }))
      }),
    ))

  it('name the key if the tenant is part of it', () =>
    inAcme(async () => {
      await on.slots.create(slot({ id: 'k1' }))
      expect(await conflict(on.slots.create(slot({ id: 'k1' })))).to.deep.equal(['id'])
    }))

  it('name nothing if the rule spans tenants', async () => {
    await asTenant('other', () => on.gates.create({ id: 'g1', door: 'north' }))
    await inAcme(async () => {
      expect(await conflict(on.gates.create({ id: 'g1' }))).to.deep.equal([])
      await on.gates.create({ id: 'g2', door: 'north' })
      expect(await conflict(on.gates.create({ id: 'g3', door: 'north' }))).to.deep.equal(['door'])
    })
  })

  it('name the fields of a shared resource', async () => {
    await on.towns.create({ id: 't1', zip: '1', street: 'a' })
    expect(await conflict(on.towns.create({ id: 't1', zip: '2', street: 'a' }))).to.deep.equal(['id'])
    expect(await conflict(on.towns.create({ id: 't2', zip: '1', street: 'a' }))).to.deep.equal([
      'zip',
      'street',
    ])
    await on.towns.create({ id: 't2', zip: '1', street: 'b' })
  })

  it('never name a value of another caller', () =>
    inAcme(async () => {
      const hostile = [
        `' for key 'badge'`,
        `x' for key 'one_slot_per_desk'`,
        '(account_id, badge)=(',
        'slots.badge, slots.id',
        `"`,
      ]
      for (const title of hostile) {
        await on.slots.create(slot({ projectId: title.slice(0, 40), title }))
        expect(await conflict(on.slots.create(slot({ projectId: title.slice(0, 40), title })))).to.deep.equal(
          ['project_id', 'title'],
        )
      }
    }))

  it('let one of many simultaneous calls win', () =>
    inAcme(async () => {
      const same = { projectId: 'race', title: 'x' }
      const made = await Promise.allSettled(Array.from({ length: 20 }, () => on.slots.create(slot(same))))
      expect(made.filter(({ status }) => status === 'fulfilled')).to.have.length(1)
      for (const one of made)
        if (one.status === 'rejected')
          expect((one.reason as ErrConflict).fields).to.deep.equal(['project_id', 'title'])
    }))

  it('exist in the database under the declared names', async function () {
    if (on.dataSource === undefined || backend.name.includes('sqlite')) return this.skip()
    const names = await indexNames(on.dataSource)
    expect(names).to.include.members([
      'one_slot_per_desk',
      'slots_by_weight',
      'slots_account_id_project_id_title_key',
    ])
  })
})

const indexNames = async (dataSource: DataSource): Promise<string[]> => {
  const runner = dataSource.createQueryRunner()
  try {
    const table = await runner.getTable('slots')
    return (table?.indices ?? []).map(({ name }) => name ?? '')
  } finally {
    await runner.release()
  }
}
