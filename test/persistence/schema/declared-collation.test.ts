import 'reflect-metadata'
import { expect } from 'chai'
import {
  Column,
  type ColumnOptions,
  type DataSource,
  Entity,
  JoinColumn,
  ManyToOne,
  PrimaryColumn,
} from 'typeorm'
import { Resource, TenantScoped } from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import { DeclarationError } from '../../../lib/errors.js'
import { schemaComparison } from '../../../lib/persistence/comparison/schema-comparison.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import type { TableNote } from '../../../lib/text/table-difference.js'
import { COLLATIONS } from '../../conformance/existing/collated-entities.js'
import { engineOf } from '../../conformance/existing/existing-entities.js'
import { databases, describeOn } from '../../support/databases/backends.js'
import { liveSchemaOf } from '../comparison/live-schema.js'

interface Ship {
  id: string
  accountId: string
  fleetId?: string
  name: string
}

type Declared = Readonly<Partial<Record<keyof Ship, string>>>

/** A ship whose columns declare these collations, and the fleet that it refers to. */
function shipWith(collations: Declared, existing = true) {
  const text = (property: keyof Ship, more: ColumnOptions = {}): ColumnOptions => {
    const collation = collations[property]
    return { type: 'varchar', length: 40, ...more, ...(collation !== undefined && { collation }) }
  }
  @Resource({ existing, type: 'fleet' })
  @Entity('fleets')
  class Fleet {
    @PrimaryColumn({ type: 'varchar', length: 40 }) id!: string
    @Column({ type: 'varchar', length: 40 }) accountId!: string
  }
  @Resource({ existing, type: 'ship' })
  @Entity('ships')
  @TenantScoped()
  class AnyShip implements Ship {
    @PrimaryColumn(text('id') as never) id!: string
    @Column(text('accountId')) accountId!: string
    @Column(text('fleetId', { nullable: true })) fleetId?: string
    @ManyToOne(() => Fleet) @JoinColumn({ name: 'fleet_id' }) fleet?: Fleet
    @Column(text('name')) name!: string
  }
  return { Ship: AnyShip, Fleet }
}

const EXACT = { postgres: '"C"', mysql: 'utf8mb4_nopad_bin', sqlite: 'BINARY' } as const
const OTHERS = { postgres: 'other', mysql: 'utf8mb4_general_ci', sqlite: 'RTRIM' } as const

describeOn('the collation that a column declares', databases, (backend) => {
  const engine = engineOf(backend.name) ?? 'sqlite'
  const [loose, other] = [COLLATIONS[engine], OTHERS[engine]]
  const all = { id: loose, accountId: loose, fleetId: loose, name: loose }
  const COLUMNS = { id: 'id', accountId: 'account_id', fleetId: 'fleet_id', name: 'name' } as const

  /** Makes the table with a collation in each column, and asks a repository whose entity declares some. */
  const started = async (declared: Declared, live: Declared, ofFleets?: string) => {
    const { Ship, Fleet } = shipWith(declared)
    const { dataSource, close } = await backend.open([Ship, Fleet])
    try {
      await make(dataSource as DataSource, live)
      if (ofFleets !== undefined)
        await (dataSource as DataSource).query(
          `CREATE TABLE fleets (id varchar(40) COLLATE ${EXACT[engine]}, account_id varchar(40) COLLATE ${ofFleets})`,
        )
      const ships = new (repositoryOf<Ship>(Ship))(dataSource as DataSource)
      const call = RequestContext.as({ tenant: 'acme', subject: 'ada' }, () => ships.list())
      const problems = await call.then(
        () => [],
        (error: unknown) => {
          expect(error).to.be.instanceOf(DeclarationError)
          const { subject, problems } = error as DeclarationError
          return problems.map((one) => (subject === Ship.name ? one : `${subject}: ${one}`))
        },
      )
      return { problems, ...(await verified(dataSource as DataSource, Ship)) }
    } finally {
      await close()
    }
  }
  const verified = async (dataSource: DataSource, Ship: new () => Ship) => {
    if (engine === 'sqlite' || backend.name === 'mysql8') return undefined
    const notes: TableNote[] = []
    const found = await schemaComparison([Ship], { note: (note) => notes.push(note) })(
      liveSchemaOf(dataSource),
    )
    const of = (list: readonly (TableNote | (typeof found)[number])[]) =>
      list.filter(({ kind }) => kind === 'collation').map(({ column }) => column)
    return { found: of(found), noted: of(notes) }
  }
  const make = async (dataSource: DataSource, live: Declared) => {
    if (engine === 'postgres')
      for (const [name, level] of [
        ['loose', 1],
        ['other', 2],
      ] as const)
        await dataSource.query(
          `CREATE COLLATION ${name} (provider = icu, locale = 'und-u-ks-level${level}', deterministic = false)`,
        )
    const column = (property: keyof Ship) =>
      `${COLUMNS[property]} varchar(40) COLLATE ${live[property] ?? EXACT[engine]} ${property === 'fleetId' ? '' : 'NOT NULL'}`
    const columns = (Object.keys(COLUMNS) as (keyof Ship)[]).map(column)
    await dataSource.query(`CREATE TABLE ships (${columns.join(', ')}, PRIMARY KEY (account_id, id))`)
  }

  it('is taken where the column has it, and where the column is exact', async () => {
    for (const live of [all, {}]) {
      const { problems, found, noted } = await started(all, live)
      expect(problems).to.deep.equal([])
      if (found === undefined) continue
      expect(found).to.deep.equal([])
      expect(noted).to.have.members(Object.keys(live).map((property) => COLUMNS[property as keyof Ship]))
    }
  })

  it('is asked for, where a key, a tenant or a reference has one', async () => {
    const { problems, found, noted } = await started({}, all)
    expect(problems).to.have.length(3)
    expect(problems[0]).to.contain(
      `id has the collation ${loose}, which treats different strings as equal: declare @PrimaryColumn({ collation: '${loose}' }) on id, or use `,
    )
    for (const [at, property] of [
      [1, 'accountId'],
      [2, 'fleetId'],
    ] as const)
      expect(problems[at]).to.contain(`@Column({ collation: '${loose}' }) on ${property}`)
    if (found === undefined) return
    expect(found).to.have.members(['id', 'account_id', 'fleet_id'])
    expect(noted).to.deep.equal(['name'])
  })

  it('is refused in a table that relations reach, until it is exact', async () => {
    expect((await started({}, {}, EXACT[engine])).problems).to.deep.equal([])
    const { problems } = await started({}, {}, loose)
    expect(problems).to.have.length(1)
    expect(problems[0]).to.contain('Fleet: ').and.to.contain('account').and.to.contain(loose)
  })

  if (engine === 'mysql')
    it('is refused of a character set that lacks characters', async () => {
      const narrow = { id: 'utf8mb3_general_ci' }
      expect((await started(narrow, narrow)).problems).to.have.length(1)
    })

  it('is refused where the column has another', async () => {
    const declared = { id: other, accountId: other, fleetId: other, name: other }
    const { problems, found } = await started(declared, all)
    expect(problems).to.have.length(4)
    if (found !== undefined) expect(found).to.have.members(Object.values(COLUMNS))
  })
})

describe('the collation of a column', () => {
  it('is declared of an existing table alone', () => {
    const { problems } = refused(() => resourceModel(shipWith({ name: 'utf8mb4_general_ci' }, false).Ship))
    expect(problems.join()).to.contain('name').and.to.contain('existing: true')
  })

  it('is declared of texts alone', () => {
    @Resource({ existing: true })
    @Entity('counters')
    class Counter {
      @PrimaryColumn({ type: 'varchar', length: 40 }) id!: string
      @Column({ type: 'varchar', length: 40 }) accountId!: string
      @Column({ type: 'int', collation: 'utf8mb4_general_ci' }) count!: number
    }
    expect(refused(() => resourceModel(Counter)).problems).to.have.length(1)
  })
})

function refused(fn: () => unknown): DeclarationError {
  try {
    fn()
  } catch (error) {
    if (error instanceof DeclarationError) return error
  }
  throw new TypeError('it was taken')
}
