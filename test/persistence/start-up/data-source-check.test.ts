import { expect } from 'chai'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import {
  Column,
  DataSource,
  type DataSourceOptions,
  EntitySchema,
  EventSubscriber,
  type EntitySubscriberInterface,
  Entity,
  PrimaryColumn,
} from 'typeorm'
import ts from 'typescript'
import { Resource, TenantScoped } from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import { DeclarationError, type Problem } from '../../../lib/errors.js'
import type { StartUpFindings } from '../../../lib/persistence/contract/repository.js'
import { ENTITY_EVENTS, QUERY_EVENTS } from '../../../lib/persistence/start-up/subscriber-findings.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { SqliteDataSource } from '../../../lib/persistence/sqlite-data-source.js'
import { databases, describeOn } from '../../support/databases/backends.js'
import { rejection } from '../../support/rejection.js'

class Base {}

@Resource()
@Entity('pins')
@TenantScoped()
class Pin extends Base {
  @PrimaryColumn() id!: string
  accountId!: string
}

class Other {}
const otherSchema = new EntitySchema<Other>({
  name: 'other',
  target: Other,
  columns: { id: { type: String, primary: true } },
})

const PinRepository = repositoryOf(Pin)
const inAcme = <T>(fn: () => Promise<T>) => RequestContext.as({ tenant: 'acme', subject: 'ada' }, fn)

/** A class of the same name, as a module that is loaded twice has it. */
const copied = () => {
  @Resource({ shared: true })
  @Entity('pins')
  class Pin {
    @PrimaryColumn() id!: string
  }
  return Pin
}

/** With the sentences of the problems. */
const texts = (findings: StartUpFindings | Promise<StartUpFindings>) => {
  const { problems, warnings } = findings as StartUpFindings
  return { problems: problems.map((one) => (one as Problem).text), warnings }
}

describeOn('a repository', databases, (backend) => {
  for (const isolationLevel of ['READ UNCOMMITTED', 'SNAPSHOT'] as const)
    it(`is not made on a DataSource with the isolationLevel ${isolationLevel}`, async () => {
      const opened = await backend.open([Pin])
      try {
        const repository = new PinRepository(opened.dataSource!)
        opened.dataSource!.setOptions({ isolationLevel })
        const problem = `isolationLevel "${isolationLevel}" of its DataSource is not supported`
        expect(() => new PinRepository(opened.dataSource!)).to.throw(DeclarationError, problem)
        expect((await repository.startUpCheck()).problems).to.satisfy(([first]: readonly Problem[]) =>
          first?.text.startsWith(problem),
        )
      } finally {
        await opened.close()
      }
    })

  it('is not made for an entity that its DataSource does not have', async () => {
    const opened = await backend.open([otherSchema])
    try {
      expect(() => new PinRepository(opened.dataSource!)).to.throw(
        DeclarationError,
        'Pin: 1 problem(s)\n  - its DataSource does not contain the entity: add Pin to its entities',
      )
    } finally {
      await opened.close()
    }
  })

  it('tells a class that is there twice under one name', async () => {
    const opened = await backend.open([copied()])
    try {
      expect(() => new PinRepository(opened.dataSource!)).to.throw(
        DeclarationError,
        'its DataSource contains another class named Pin: its module is loaded twice',
      )
    } finally {
      await opened.close()
    }
  })

  it('says at its first use what is missing when its DataSource was made later', async () => {
    const opened = await backend.open([otherSchema])
    const { dataSource } = opened
    await dataSource!.destroy()
    try {
      const pins = new PinRepository(dataSource!)
      const operations: readonly (() => Promise<unknown>)[] = [
        () => pins.get('a'),
        () => pins.list(),
        () => pins.create({ id: 'a' }),
        () => pins.batchDelete(['a']),
      ]
      for (const operation of operations) {
        const error = await rejection(inAcme(operation), TypeError)
        expect(error.message).to.equal(
          'Pin: its DataSource is not initialized: await dataSource.initialize() first',
        )
      }
      await dataSource!.initialize()
      for (const operation of operations)
        await rejection(inAcme(operation), DeclarationError, /does not contain the entity/)
    } finally {
      await opened.close()
    }
  })

  if (backend.name === 'mariadb' || backend.name === 'mysql8')
    it('is told before its first use of columns that take different texts for the same', async () => {
      const opened = await backend.open([Pin])
      try {
        const loose = 'varchar(40) COLLATE utf8mb4_general_ci NOT NULL'
        await opened.dataSource!.query(
          `CREATE TABLE pins (account_id ${loose}, id ${loose}, PRIMARY KEY (account_id, id))`,
        )
        const { problems } = texts(await new PinRepository(opened.dataSource!).startUpCheck())
        expect(problems).to.have.length(2)
        for (const one of problems) expect(one).to.include('collation utf8mb4_general_ci')
      } finally {
        await opened.close()
      }
    })

  it('works on a DataSource that is initialized after it is made', async () => {
    const opened = await backend.open([Pin])
    const { dataSource } = opened
    await dataSource!.destroy()
    try {
      const pins = new PinRepository(dataSource!)
      expect(texts(await pins.startUpCheck())).to.deep.equal({
        problems: ['its DataSource is not initialized: await dataSource.initialize() first'],
        warnings: [],
      })
      await dataSource!.initialize()
      expect(await pins.startUpCheck?.()).to.deep.equal({ problems: [], warnings: [] })
    } finally {
      await opened.close()
    }
  })
})

const on =
  (...events: readonly string[]) =>
  (listenTo?: unknown): new () => EntitySubscriberInterface => {
    class Auditor {}
    if (listenTo !== undefined)
      Object.defineProperty(Auditor.prototype, 'listenTo', { value: () => listenTo, configurable: true })
    for (const event of events) Object.defineProperty(Auditor.prototype, event, { value: () => {} })
    EventSubscriber()(Auditor)
    return Auditor as never
  }

const neverCalled = (event: string, instead: string) =>
  `${event} of the subscriber Auditor is never called: the entity is permanently removed: write @SoftDeletable() above it, or use ${instead}`
const OF_SOFT_DELETION: Readonly<Record<string, string>> = {
  beforeSoftRemove: neverCalled('BeforeSoftRemove', '@BeforeRemove()'),
  afterSoftRemove: neverCalled('AfterSoftRemove', '@AfterRemove()'),
  beforeRecover: neverCalled('BeforeRecover', 'another hook'),
  afterRecover: neverCalled('AfterRecover', 'another hook'),
}
const NOT_TOLD =
  'the subscriber Auditor receives no events of reads and writes by repositories: give it a listenTo() with one entity'
const NO_QUERY =
  "the subscriber Auditor does not receive the query and transaction events of Pin's repository"

type Case = readonly [
  what: string,
  subscriber: new () => EntitySubscriberInterface,
  problems: readonly string[],
  warnings: readonly string[],
]

const cases: readonly Case[] = [
  ...ENTITY_EVENTS.map((event): Case => [
    `of ${event}`,
    on(event)(Pin),
    [OF_SOFT_DELETION[event] ?? []].flat(),
    [],
  ]),
  ['of an ancestor', on('afterRecover')(Base), [OF_SOFT_DELETION['afterRecover'] ?? ''], []],
  ['by name', on('afterRecover')('Pin'), [OF_SOFT_DELETION['afterRecover'] ?? ''], []],
  ['of an event and a query', on('afterLoad', 'afterQuery')(Pin), [], []],
  ...QUERY_EVENTS.map((event): Case => [`of ${event} alone`, on(event)(Pin), [], [NO_QUERY]]),
  ['without listenTo', on('beforeInsert')(), [], [NOT_TOLD]],
  ['without listenTo, of queries', on('beforeQuery')(), [], [NOT_TOLD]],
  ['of everything', on('afterLoad')(Object), [], [NOT_TOLD]],
  ['of another entity', on('beforeInsert', 'afterQuery')(Other), [], []],
  ['that hears nothing', on()(Pin), [], []],
]

describe('a subscriber of a DataSource', () => {
  for (const [what, Subscriber, problems, warnings] of cases)
    it(`${what}: ${problems.length > 0 ? 'is refused' : warnings.length > 0 ? 'is warned of' : 'is let be'}`, async () => {
      const dataSource = new SqliteDataSource({
        database: ':memory:',
        entities: [Pin, otherSchema],
        subscribers: [Subscriber],
      })
      const pins = new PinRepository(dataSource)
      await dataSource.initialize()
      try {
        expect(texts(await pins.startUpCheck())).to.deep.equal({ problems, warnings })
        const make = () => new PinRepository(dataSource)
        if (problems.length > 0) expect(make).to.throw(DeclarationError, problems[0])
        else expect(make).to.not.throw()
      } finally {
        await dataSource.destroy()
      }
    })

  it('has no method that is not among the events', () => {
    const path = join(
      dirname(createRequire(import.meta.url).resolve('typeorm')),
      'subscriber/EntitySubscriberInterface.d.ts',
    )
    const source = ts.createSourceFile(path, ts.sys.readFile(path) ?? '', ts.ScriptTarget.ES2022, true)
    const methods = source.statements
      .filter(ts.isInterfaceDeclaration)
      .flatMap(({ members }) => members.map(({ name }) => (name as ts.Identifier).text))
    expect(methods.sort()).to.deep.equal(['listenTo', ...ENTITY_EVENTS, ...QUERY_EVENTS].sort())
  })
})

@Resource({ shared: true })
@Entity('synchronized_blobs')
class Blob {
  @PrimaryColumn() id!: string
  @Column() untyped!: Uint8Array
}

describeOn(
  'bytes that synchronize would make a text of',
  databases.filter(({ name }) => name === 'postgres' || name === 'mariadb'),
  (backend) => {
    const type = backend.name === 'postgres' ? 'bytea' : 'longblob'
    @Resource({ shared: true })
    @Entity('synchronized_bytes')
    class Bytes {
      @PrimaryColumn() id!: string
      @Column(type) typed!: Uint8Array
    }

    it('are refused with the type to write, with which they are kept', async () => {
      const opened = await backend.open([])
      const options = { ...opened.dataSource!.options, entities: [Blob, Bytes], synchronize: true }
      const dataSource = await new DataSource(options as DataSourceOptions).initialize()
      try {
        const Blobs = repositoryOf(Blob)
        expect(() => new Blobs(dataSource)).to.throw(
          DeclarationError,
          `Blob: 1 problem(s)\n  - untyped is bytes, but synchronize creates its column as text, which cannot store it: write @Column('${type}'), or turn synchronize off`,
        )
        const repository = new (repositoryOf(Bytes))(dataSource)
        // TypeORM's table on MariaDB takes different keys for the same, which the first use refuses.
        if (backend.name === 'mariadb') return
        const typed = Uint8Array.from({ length: 256 }, (_, byte) => byte)
        await repository.create({ id: 'a', typed })
        expect((await repository.get('a')).typed).to.deep.equal(typed)
      } finally {
        await dataSource.destroy()
        await opened.close()
      }
    })
  },
)

describeOn(
  "times in TypeORM's own manager",
  databases.filter(({ name }) => name === 'postgres' || name === 'mariadb'),
  (backend) => {
    class Visit {
      @PrimaryColumn() id!: string
      @Column() at!: Date
      @Column({ nullable: true }) until?: Date
    }
    @Resource({ shared: true })
    @Entity('visits')
    class OwnVisit extends Visit {}
    @Resource({ shared: true, existing: true })
    @Entity('visits')
    class ExistingVisit extends Visit {}
    const isPostgres = backend.name === 'postgres'

    /** In a process of that zone. */
    const inZone = async <T>(
      zone: string,
      entity: typeof OwnVisit,
      options: Readonly<Record<string, unknown>>,
      run: (dataSource: DataSource) => Promise<T>,
    ) => {
      const before = process.env.TZ
      const opened = await backend.open([])
      const [at, until] = isPostgres ? ['timestamp', 'timestamptz'] : ['datetime(6)', 'datetime(6)']
      await opened.dataSource!.query(
        `CREATE TABLE visits (id varchar(40)${isPostgres ? '' : ' COLLATE utf8mb4_nopad_bin'} PRIMARY KEY, at ${at} NOT NULL, until ${until})`,
      )
      const dataSource = await new DataSource({
        ...opened.dataSource!.options,
        entities: [entity],
        ...options,
      } as DataSourceOptions).initialize()
      try {
        process.env.TZ = zone
        return await run(dataSource)
      } finally {
        if (before === undefined) delete process.env.TZ
        else process.env.TZ = before
        await dataSource.destroy()
        await opened.close()
      }
    }
    const findingsIn = (
      zone: string,
      options: Readonly<Record<string, unknown>> = {},
      entity: typeof OwnVisit = OwnVisit,
    ) =>
      inZone(zone, entity, options, async (dataSource) => {
        const repository = new (repositoryOf(entity))(dataSource)
        return texts(await repository.startUpCheck!())
      })
    const TEXT = isPostgres
      ? "times without a zone are in at of Visit: repositories read and write them in UTC, but TypeORM's own manager uses Asia/Tokyo, the zone of this process: start the process with TZ=UTC, or make the columns timestamptz"
      : "TypeORM's own manager reads and writes times in this process's zone, but repositories use UTC: set timezone: 'Z' in the options of the DataSource (Visit)"
    const textOf = (entity: typeof OwnVisit) => TEXT.replace('Visit', entity.name)

    it('are hours away from those of a repository in another zone', async () => {
      const at = new Date('2026-07-01T12:30:00Z')
      await inZone('Asia/Tokyo', OwnVisit, {}, async (dataSource) => {
        await dataSource.manager.insert(OwnVisit, { id: 'a', at, until: at })
        const read = await RequestContext.asSystem({ reason: 'test' }, () =>
          new (repositoryOf(OwnVisit))(dataSource).get('a'),
        )
        expect(read.at.toISOString()).to.equal('2026-07-01T21:30:00.000Z')
        expect(read.until?.toISOString()).to.equal(isPostgres ? at.toISOString() : '2026-07-01T21:30:00.000Z')
      })
    })

    it('are warned of, once, where the zone of the process decides them', async () => {
      expect(await findingsIn('Asia/Tokyo')).to.deep.equal({
        problems: [],
        warnings: [textOf(OwnVisit)],
      })
    })

    it('are refused in a table of another application', async () => {
      expect(await findingsIn('Asia/Tokyo', {}, ExistingVisit).catch((error: unknown) => error)).to.satisfy(
        (found: unknown) =>
          (found instanceof DeclarationError
            ? found.problems
            : (found as { problems: string[] }).problems)[0]?.includes(textOf(ExistingVisit)) === true,
      )
    })

    it('are let be in UTC', async () => {
      const nothing = { problems: [], warnings: [] }
      expect(await findingsIn('UTC', {}, ExistingVisit)).to.deep.equal(nothing)
      if (!isPostgres)
        expect(await findingsIn('Asia/Tokyo', { timezone: 'Z' }, ExistingVisit)).to.deep.equal(nothing)
    })
  },
)

describeOn(
  'synchronize of TypeORM',
  databases.filter(({ name }) => name === 'postgres'),
  (backend) => {
    it('is warned of where it makes the table of a resource', async () => {
      const opened = await backend.open([])
      const options = { ...opened.dataSource!.options, entities: [Pin], synchronize: true }
      const dataSource = await new DataSource(options as DataSourceOptions).initialize()
      try {
        const { problems, warnings } = (await new PinRepository(dataSource).startUpCheck?.()) as never
        expect(problems).to.deep.equal([])
        expect(warnings).to.deep.equal([
          "synchronize creates the table of Pin by TypeORM's rules, in which unique values are not per tenant and strings are compared loosely: turn it off, and use createTables() or a migration",
        ])
      } finally {
        await dataSource.destroy()
        await opened.close()
      }
    })
  },
)
