import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { Column, Entity, JoinColumn, ManyToOne, OneToMany, PrimaryColumn } from 'typeorm'
import { Expirable, Resource, SoftDeletable, TenantScoped } from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import { ErrNotFound, ErrPreconditionFailed, InvalidArgument } from '../../../lib/errors.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { transaction } from '../../../lib/persistence/sql/transaction.js'
import type { EntityClass } from '../../../lib/resource/resource-model.js'
import { databases, describeOn } from '../../support/databases/backends.js'
import { drill, drilling } from '../../support/drill.js'
import { rejection } from '../../support/rejection.js'
import { engineOf } from './existing-entities.js'

interface Crate {
  id: string
  accountId: string
  expireTime?: Date
}
interface Lid {
  id: string
  accountId: string
  crateId?: string
  expireTime?: Date
}
interface Family {
  readonly name: string
  readonly onDelete: 'CASCADE' | 'SET NULL' | 'RESTRICT'
  readonly isSoft: boolean
  readonly at: number
  readonly Crate: EntityClass<Crate>
  readonly Lid: EntityClass<Lid>
}

/** Tables of another application, which has no tenants. */
function family(onDelete: Family['onDelete'], isSoft: boolean, at: number): Family {
  @Entity(`crates_${at}`)
  @TenantScoped()
  @Expirable()
  class AnyCrate implements Crate {
    @PrimaryColumn({ length: 40 }) id!: string
    @Column({ type: 'varchar', length: 40, nullable: true }) accountId!: string
    expireTime?: Date
    deleteTime?: Date
    @OneToMany(() => AnyLid, (lid) => lid.crate) lids?: AnyLid[]
  }
  @Entity(`lids_${at}`)
  @TenantScoped()
  @Expirable()
  class AnyLid implements Lid {
    @PrimaryColumn({ length: 40 }) id!: string
    @Column({ type: 'varchar', length: 40, nullable: true }) accountId!: string
    @Column({ type: 'varchar', length: 40, nullable: true }) crateId?: string
    @ManyToOne(() => AnyCrate, (crate) => crate.lids, { onDelete })
    @JoinColumn({ name: 'crate_id' })
    crate?: AnyCrate
    expireTime?: Date
    deleteTime?: Date
  }
  for (const entity of [AnyCrate, AnyLid]) if (isSoft) SoftDeletable()(entity)
  Resource({ type: `crate_${at}`, existing: true })(AnyCrate)
  Resource({ type: `lid_${at}`, existing: true })(AnyLid)
  const name = `${onDelete.toLowerCase()}, deleted ${isSoft ? 'softly' : 'for good'}`
  return { name, onDelete, isSoft, at, Crate: AnyCrate, Lid: AnyLid }
}

/** In `npm test`, each relation and each kind of deletion once. */
const FAMILIES = (['CASCADE', 'SET NULL', 'RESTRICT'] as const).flatMap((onDelete, at) =>
  [true, false]
    .filter((isSoft) => drilling || isSoft === (at % 2 === 0))
    .map((isSoft) => family(onDelete, isSoft, at * 2 + (isSoft ? 0 : 1))),
)

const TYPES = {
  postgres: { text: 'varchar(40)', time: 'timestamptz' },
  mysql: { text: 'varchar(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin', time: 'datetime(6)' },
  sqlite: { text: 'TEXT', time: 'TEXT' },
} as const

/** Foreign keys are on the id alone: the database keeps what a row of no tenant refers to. */
const tablesOf = ({ at }: Family, { text, time }: (typeof TYPES)['postgres' | 'mysql' | 'sqlite']) => {
  const both = `account_id ${text}, expire_time ${time}, deleted_at ${time}, delete_id ${text}`
  const reference = `crate_id ${text}, FOREIGN KEY (crate_id) REFERENCES crates_${at} (id)`
  return [
    `CREATE TABLE crates_${at} (id ${text} PRIMARY KEY, ${both})`,
    `CREATE TABLE lids_${at} (id ${text} PRIMARY KEY, ${both}, ${reference})`,
    `CREATE TABLE visits_${at} (id ${text} PRIMARY KEY, ${reference})`,
  ]
}

const LONG_AGO = new Date('2001-01-01T00:00:00Z')
const as = <T>(tenant: string, fn: () => Promise<T>): Promise<T> =>
  RequestContext.as({ tenant, subject: 'ada' }, fn)
const inAcme = <T>(fn: () => Promise<T>): Promise<T> => as('acme', fn)
const asSystem = <T>(fn: () => Promise<T>): Promise<T> => RequestContext.asSystem({ reason: 'a test' }, fn)

describeOn('rows without a tenant', databases, (backend) => {
  let close: () => Promise<void>
  let dataSource: DataSource

  before(async () => {
    const opened = await backend.open(FAMILIES.flatMap(({ Crate, Lid }) => [Crate, Lid]))
    close = opened.close
    dataSource = opened.dataSource as DataSource
    const types = TYPES[engineOf(backend.name) ?? 'sqlite']
    for (const one of FAMILIES) for (const text of tablesOf(one, types)) await dataSource.query(text)
  })
  after(() => close?.())

  for (const { name, onDelete, isSoft, at, Crate, Lid } of FAMILIES)
    describe(`in a family that is ${name}`, () => {
      let crates: Repository<Crate>
      let lids: Repository<Lid>

      /** A row of our own, that of another tenant, or of none. */
      const crate = (id: string, tenant: string | undefined = 'acme', expireTime?: Date) =>
        made(`crates_${at}`, id, tenant, () => crates.create({ id, ...(expireTime && { expireTime }) }))
      const lid = (id: string, crateId: string, tenant: string | undefined = 'acme', expireTime?: Date) => {
        const values = { id, ...(expireTime && { expireTime }) }
        return made(`lids_${at}`, id, tenant, async () => {
          await lids.create(values)
          await dataSource.query(`UPDATE lids_${at} SET crate_id = '${crateId}' WHERE id = '${id}'`)
        })
      }
      const made = async (
        table: string,
        id: string,
        tenant: string | undefined,
        create: () => Promise<unknown>,
      ) => {
        await as(tenant ?? 'acme', create)
        if (tenant === NOBODY)
          await dataSource.query(`UPDATE ${table} SET account_id = NULL WHERE id = '${id}'`)
      }
      const ids = async (table: string, where = '1 = 1') => {
        const rows = await dataSource.query<{ id: string }[]>(
          `SELECT id FROM ${table}_${at} WHERE ${where} ORDER BY id`,
        )
        return rows.map(({ id }) => id)
      }

      beforeEach(async () => {
        for (const table of ['visits', 'lids', 'crates']) await dataSource.query(`DELETE FROM ${table}_${at}`)
        crates = new (repositoryOf(Crate))(dataSource) as unknown as Repository<Crate>
        lids = new (repositoryOf(Lid))(dataSource) as unknown as Repository<Lid>
      })

      it('can be neither referred to nor read', async () => {
        await crate('n', NOBODY)
        await lid('l', 'n')
        const reach = async () => {
          await rejection(crates.get('n'), ErrNotFound)
          const { items } = await lids.list({ with: ['crate'] as never })
          expect(items.map((one) => (one as { crate?: unknown }).crate)).to.deep.equal([undefined])
          const filter = `crate.id = "n"`
          expect((await lids.list({ filter }, { through: ['crate'] as never })).items).to.deep.equal([])
        }
        await inAcme(reach)
        await asSystem(reach)
        await inAcme(() => rejection(lids.create({ id: 'm', crateId: 'n' }), InvalidArgument, 'crate_id'))
      })

      it('stay if the row that they refer to is deleted, or keep that row', async () => {
        await crate('c')
        await lid('ours', 'c')
        await lid('nobodys', 'c', NOBODY)
        const how = onDelete === 'RESTRICT' ? { force: true } : {}
        if (isSoft) {
          await inAcme(() => crates.delete('c', how))
          expect(await ids('crates', 'deleted_at IS NOT NULL')).to.deep.equal(['c'])
        } else {
          await rejection(
            inAcme(() => crates.delete('c', how)),
            ErrPreconditionFailed,
          )
          expect(await ids('lids', `crate_id = 'c'`)).to.deep.equal(['nobodys', 'ours'])
        }
        expect(
          await ids('lids', `account_id IS NULL AND crate_id = 'c' AND deleted_at IS NULL`),
        ).to.deep.equal(['nobodys'])
        if (!isSoft) return
        await inAcme(() => crates.undelete('c'))
        expect(await ids('lids', 'account_id IS NULL AND delete_id IS NULL')).to.deep.equal(['nobodys'])
      })

      it('are never purged, and never prevent a purge of other rows', async () => {
        const many = drill(5, 2500)
        for (const tenant of ['acme', 'globex', NOBODY]) {
          for (let n = 0; n < (tenant === 'acme' ? many : 2); n++)
            await crate(`${tenant}${String(n).padStart(4, '0')}`, tenant, LONG_AGO)
          await lid(`lid of ${tenant}`, `${tenant}0000`, tenant, LONG_AGO)
        }
        await lid('nobodys', 'acme0001', NOBODY, LONG_AGO)
        await dataSource.query(`INSERT INTO visits_${at} (id, crate_id) VALUES ('v', 'acme0003')`)
        const isKept = onDelete === 'RESTRICT'
        const now = new Date()
        const kept = [...(isKept ? ['acme0000'] : []), 'acme0001', 'acme0003']
        expect(await inAcme(() => crates.purgeExpired(now))).to.equal(many - kept.length)
        expect(await ids('crates', `account_id = 'acme'`)).to.deep.equal(kept)
        expect(await ids('crates', `account_id IS NULL`)).to.have.length(2)
        // Whoever reaches every tenant does not reach these.
        expect(await asSystem(() => crates.purgeExpired(now))).to.equal(isKept ? 1 : 2)
        expect(await ids('crates', `account_id = 'acme'`)).to.deep.equal(kept)
        await asSystem(() => lids.purgeExpired(now))
        await asSystem(() => crates.purgeExpired(now))
        expect(await ids('lids')).to.deep.equal([`lid of ${NOBODY}`, 'nobodys'])
        expect(await ids('crates')).to.deep.equal([
          ...['acme0001', 'acme0003'],
          ...[`${NOBODY}0000`, `${NOBODY}0001`],
        ])
      })

      it('do not break a transaction in which a purge skips them', async () => {
        await crate('c', 'acme', LONG_AGO)
        await crate('d', 'acme', LONG_AGO)
        await lid('nobodys', 'c', NOBODY)
        await inAcme(() =>
          transaction(dataSource, async () => {
            await crates.create({ id: 'before' })
            expect(await crates.purgeExpired(new Date())).to.equal(1)
            await crates.create({ id: 'after' })
          }),
        )
        expect(await ids('crates')).to.deep.equal(['after', 'before', 'c'])
      })
    })
})

/** In the place of a tenant: none. */
const NOBODY = 'nobody'
