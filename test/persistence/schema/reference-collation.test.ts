import 'reflect-metadata'
import { expect } from 'chai'
import { Column, type DataSource, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm'
import { Resource, TenantScoped } from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import { DeclarationError } from '../../../lib/errors.js'
import { schemaComparison } from '../../../lib/persistence/comparison/schema-comparison.js'
import { schemaModel } from '../../../lib/persistence/comparison/schema-model.js'
import { tableMigrations } from '../../../lib/persistence/index.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import type { EntityClass } from '../../../lib/resource/resource-model.js'
import { COLLATIONS } from '../../conformance/existing/collated-entities.js'
import { engineOf } from '../../conformance/existing/existing-entities.js'
import { collated } from '../../conformance/repository/open-subject.js'
import { databases, describeOn } from '../../support/databases/backends.js'
import { rejection } from '../../support/rejection.js'
import { liveSchemaOf } from '../comparison/live-schema.js'

type Referring = EntityClass<{ id: string; accountId: string; harbourId?: string }>

type Collations = readonly (string | undefined)[]

/**
 * A harbour of a table that is there, and boats that refer to it.
 * @param collations - of its key, and of its tenant.
 */
function boatsAt(collations: Collations) {
  const text = (collation?: string) => ({
    ...{ type: 'varchar' as const, length: 40 },
    ...(collation !== undefined && { collation }),
  })
  const [ofKey, ofTenant] = collations
  @Resource({ existing: true })
  @Entity('harbours')
  @TenantScoped()
  class Harbour {
    @PrimaryColumn(text(ofKey)) id!: string
    @PrimaryColumn(text(ofTenant)) accountId!: string
  }
  @Resource()
  @Entity('boats')
  @TenantScoped()
  class Boat {
    @PrimaryColumn(text()) id!: string
    accountId!: string
    @Column({ ...text(), nullable: true }) harbourId?: string
    @ManyToOne(() => Harbour) @JoinColumn({ name: 'harbour_id' }) harbour?: Harbour
  }
  @Resource({ existing: true })
  @Entity('boats')
  @TenantScoped()
  class Existing {
    @PrimaryColumn(text()) id!: string
    @PrimaryColumn(text(ofTenant)) accountId!: string
    @Column({ ...text(ofKey), nullable: true }) harbourId?: string
    @ManyToOne(() => Harbour) @JoinColumn({ name: 'harbour_id' }) harbour?: Harbour
  }
  return { Harbour, Boat: Boat as Referring, Existing: Existing as Referring }
}

const valuesOf = ({ values }: DeclarationError) =>
  values.map((one) => {
    const { kind, entity, property } = one as Readonly<Record<string, string>>
    return { kind, entity, property }
  })

const REFUSED = [{ kind: 'collation', entity: 'Boat', property: 'harbour' }]

describe('the migration of a table that refers to a key of another collation', () => {
  const { Harbour, Boat } = boatsAt(['utf8mb4_general_ci'])
  const boats = () => tableMigrations({ Harbour, Boat }).find(({ table }) => table === 'boats')

  it('is refused on the engine that makes no such foreign key', () => {
    expect(boats()?.sqlFor('postgres').up).to.include('FOREIGN KEY')
    try {
      boats()?.sqlFor('mysql')
      expect.fail('it was made')
    } catch (error) {
      expect(error).to.be.instanceOf(DeclarationError)
      expect((error as DeclarationError).problems).to.deep.equal([
        "Boat: harbour: id of Harbour has the collation utf8mb4_general_ci, but the table of Boat uses another, and MySQL supports no foreign key between the two: declare @Resource({ existing: true }) on Boat and @Column({ collation: 'utf8mb4_general_ci' }) on harbourId, and create its table in your own migration; or give id of Harbour the exact collation",
      ])
    }
  })
})

describeOn('a reference to a key of another collation', databases, (backend) => {
  const engine = engineOf(backend.name) ?? 'sqlite'
  const loose = COLLATIONS[engine]
  const exact = { postgres: '"C"', mysql: 'utf8mb4_nopad_bin', sqlite: 'BINARY' }[engine]

  const withHarbours = async (
    collations: Collations,
    entities: (made: ReturnType<typeof boatsAt>) => EntityClass<object>[],
    use: (dataSource: DataSource) => Promise<void>,
  ) => {
    const opened = await backend.open(entities(boatsAt(collations)))
    const dataSource = opened.dataSource as DataSource
    try {
      if (engine === 'postgres')
        await dataSource.query(
          `CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)`,
        )
      const [key = exact, tenant = exact] = collations
      await dataSource.query(
        `CREATE TABLE harbours (id varchar(40) COLLATE ${key} NOT NULL, account_id varchar(40) COLLATE ${tenant} NOT NULL, PRIMARY KEY (account_id, id))`,
      )
      await use(dataSource)
    } finally {
      await opened.close()
    }
  }

  for (const [what, collations] of [
    ['key', [loose]],
    ['tenant', [undefined, loose]],
  ] as const)
    it(`is refused of the ${what} where no foreign key can be made, and stays where it can`, async () => {
      const made = boatsAt(collations)
      await withHarbours(
        collations,
        () => [made.Harbour, made.Boat],
        async (dataSource) => {
          const boats = () => new (repositoryOf(made.Boat))(dataSource)
          const entities = [made.Harbour, made.Boat]
          const create = () =>
            createTables(collated(dataSource, backend), entities, engine === 'mysql' ? 'mariadb' : engine)
          if (engine !== 'mysql') {
            await create()
            await RequestContext.asSystem({ tenant: 'acme' }, async () => {
              await dataSource.query("INSERT INTO harbours (id, account_id) VALUES ('h', 'acme')")
              await boats().create({ id: 'b', harbourId: 'h' } as never)
            })
            return
          }
          expect(valuesOf(await rejection(create(), DeclarationError))).to.deep.equal(REFUSED)
          expect(boats).to.throw(DeclarationError)
          const live = liveSchemaOf(dataSource)
          for (const compared of [schemaModel(entities).read(live), schemaComparison(entities)(live)])
            expect(valuesOf(await rejection(compared, DeclarationError))).to.deep.equal(REFUSED)
        },
      )
    })

  it('is taken as the error says: of a table that is there, with the collation', async () => {
    const collations = [loose, loose] as const
    const made = boatsAt(collations)
    await withHarbours(
      collations,
      () => [made.Harbour, made.Existing],
      async (dataSource) => {
        await dataSource.query(
          `CREATE TABLE boats (id varchar(40) COLLATE ${exact} NOT NULL, account_id varchar(40) COLLATE ${loose} NOT NULL, harbour_id varchar(40) COLLATE ${loose}, PRIMARY KEY (account_id, id), FOREIGN KEY (account_id, harbour_id) REFERENCES harbours (account_id, id))`,
        )
        await dataSource.query("INSERT INTO harbours (id, account_id) VALUES ('h', 'acme')")
        const boats = new (repositoryOf(made.Existing))(dataSource)
        expect((await boats.startUpCheck()).problems).to.deep.equal([])
        await RequestContext.as({ tenant: 'acme', subject: 'ada' }, async () => {
          expect(await boats.create({ id: 'b', harbourId: 'h' } as never)).to.include({ harbourId: 'h' })
          await rejection(
            boats.create({ id: 'c', harbourId: 'H' } as never),
            Error,
            'there is no such harbour',
          )
        })
      },
    )
  })
})
