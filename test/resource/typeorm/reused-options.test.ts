import { expect } from 'chai'
import {
  Column,
  CreateDateColumn,
  Entity,
  JoinColumn,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  UpdateDateColumn,
} from 'typeorm'
import { CreateTime, Resource, TenantScoped, UpdateTime } from '../../../decorators/index.js'
import { SqliteDataSource } from '../../../lib/persistence/sqlite-data-source.js'
import { type EntityClass, resourceModel } from '../../../lib/resource/resource-model.js'
import { problemsOf } from './declarations.js'

const CODE = Object.freeze({ type: 'varchar', length: 40 } as const)
const PLAIN = Object.freeze({ type: 'varchar' } as const)
const TIME = Object.freeze({ comment: 'kept' })
const TO_AREA = Object.freeze({ name: 'area_key' })
const Code = Column(CODE)
const Key = PrimaryColumn(CODE)
const Minted = PrimaryGeneratedColumn({ type: 'bigint' })

@Resource()
@Entity('areas')
@TenantScoped()
class Area {
  @Key id!: string
  @Column(CODE) accountId!: string
  @Column(CODE) shortName!: string
  @Code longName!: string
}

@Resource()
@Entity('stops')
@TenantScoped({ column: 'ownerId' })
class Stop {
  @Key stopKey!: string
  @Column(CODE) ownerId!: string
  @Code firstLine!: string
  @Code secondLine!: string
  @Column(PLAIN) areaKey?: string
  @ManyToOne(() => Area) @JoinColumn(TO_AREA) area?: Area
}

@Resource({ existing: true, naming: 'typeorm', shared: true })
@Entity('visits')
class Visit {
  @Minted visitNumber!: bigint
  @Column(CODE) shortName!: string
  @CreateTime() @CreateDateColumn(TIME) createdAt!: Date
  @UpdateTime() @UpdateDateColumn(TIME) updatedAt!: Date
}

@Resource({ shared: true })
@Entity('counters')
class Counter {
  @Minted counterNumber!: bigint
  @Column(CODE) shortName!: string
}

/** What TypeORM alone has. */
@Entity('plain')
class Plain {
  @PrimaryColumn(CODE) plainKey!: string
  @Column(CODE) shortName!: string
  @Code longName!: string
}

const columnsOf = (entity: EntityClass<object>) =>
  Object.fromEntries(resourceModel(entity).fields.map(({ property, column }) => [property, column]))

describe('options that several columns share', () => {
  it('may be frozen, and leave each column its own name', () => {
    expect(columnsOf(Area)).to.deep.equal({
      id: 'id',
      accountId: 'account_id',
      shortName: 'short_name',
      longName: 'long_name',
    })
    expect(columnsOf(Stop)).to.deep.equal({
      stopKey: 'stop_key',
      ownerId: 'owner_id',
      firstLine: 'first_line',
      secondLine: 'second_line',
      areaKey: 'area_key',
    })
    expect(columnsOf(Visit)).to.include({ visitNumber: 'visitNumber', shortName: 'shortName' })
    expect(columnsOf(Counter)).to.deep.equal({ counterNumber: 'counter_number', shortName: 'short_name' })
  })

  it('state a type, where the properties have several', () => {
    const reused = { nullable: true }
    @Resource({ shared: true })
    @Entity('notes')
    class Note {
      @PrimaryColumn() id!: string
      @Column(reused) text?: string
      @Column(reused) size?: number
      @Column({ ...reused, type: 'int' }) count?: number
    }
    expect(problemsOf(Note)).to.deep.equal([
      'size is string: declare it as string, not Number; or write a type in its @Column(): TypeORM keeps the type of the first column that shares an options object',
    ])
  })

  it('are the same for what is not a resource', async () => {
    const dataSource = new SqliteDataSource({
      database: ':memory:',
      entities: [Area, Stop, Visit, Counter, Plain],
    })
    await dataSource.initialize()
    const { columns } = dataSource.getMetadata(Plain)
    expect(columns.map(({ databaseName, isPrimary }) => [databaseName, isPrimary])).to.deep.equal([
      ['plainKey', true],
      ['shortName', false],
      ['longName', false],
    ])
    const manager = dataSource.manager
    await manager.insert(Area, { id: 'a', accountId: 'acme', shortName: 's', longName: 'l' })
    await manager.insert(Stop, {
      stopKey: 's',
      ownerId: 'acme',
      firstLine: '1',
      secondLine: '2',
      areaKey: 'a',
    })
    const [stop] = await manager.find(Stop, { relations: { area: true } })
    expect(stop).to.deep.include({
      firstLine: '1',
      secondLine: '2',
      area: { id: 'a', accountId: 'acme', shortName: 's', longName: 'l' },
    })
    await dataSource.destroy()
  })
})
