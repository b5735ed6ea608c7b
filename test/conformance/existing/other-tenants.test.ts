import 'reflect-metadata'
import { expect } from 'chai'
import { Column, type DataSource, Entity, JoinColumn, ManyToOne, OneToMany, PrimaryColumn } from 'typeorm'
import {
  ETag,
  Expirable,
  Internal,
  OutputOnly,
  ProtoField,
  Resource,
  Secret,
  SoftDeletable,
  TenantScoped,
} from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import { AshlarError } from '../../../lib/errors.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { newDev } from '../../../lib/secrets/index.js'
import { databases, describeOn, coalesced } from '../../support/databases/backends.js'
import { engineOf } from './existing-entities.js'

@Entity('people')
class Person {
  @PrimaryColumn('uuid') id!: string
}

@Resource({ existing: true, naming: 'typeorm' })
@Entity('folders')
@TenantScoped({ column: 'orgId' })
@SoftDeletable()
@Expirable()
class Folder {
  @PrimaryColumn('uuid') id!: string
  @Column({ type: 'uuid', nullable: true }) orgId!: string
  @ProtoField('display_name') @Column({ type: 'varchar', length: 40, nullable: true }) title?: string
  @Column({ type: 'varchar', length: 40, nullable: true, unique: true }) code?: string
  @Column({ type: 'varchar', length: 40, nullable: true }) @OutputOnly({ generated: true }) stamp?: string
  @Secret() apiKey?: string
  @ETag() etag!: string
  @ProtoField('delete_time') @Column({ type: Date, nullable: true }) deletedAt?: Date
  @ProtoField('expire_time') @Column({ type: Date, nullable: true }) expiresAt?: Date
  @Internal() @ManyToOne(() => Person) @JoinColumn({ name: 'ownerId' }) owner?: Person
  @OneToMany(() => Paper, 'folder') papers?: unknown[]
}

@Resource({ existing: true, naming: 'typeorm' })
@Entity('papers')
@TenantScoped({ column: 'orgId' })
@SoftDeletable()
@Expirable()
class Paper {
  @PrimaryColumn('uuid') id!: string
  @Column({ type: 'uuid', nullable: true }) orgId!: string
  @Column({ type: 'uuid', nullable: true }) folderId?: string
  @ManyToOne(() => Folder, (folder) => folder.papers, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'folderId' })
  folder?: Folder
  @ProtoField('delete_time') @Column({ type: Date, nullable: true }) deletedAt?: Date
  @ProtoField('expire_time') @Column({ type: Date, nullable: true }) expiresAt?: Date
}

const TYPES = {
  postgres: { uuid: 'uuid', text: 'varchar(100)', time: 'timestamptz' },
  mysql: {
    uuid: 'varchar(36) COLLATE utf8mb4_nopad_bin',
    text: 'varchar(200) COLLATE utf8mb4_nopad_bin',
    time: 'datetime(6)',
  },
  sqlite: { uuid: 'TEXT', text: 'TEXT', time: 'TEXT' },
} as const

const TRIGGERS = {
  postgres: [
    `CREATE FUNCTION stamped() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN NEW.stamp := 'table'; RETURN NEW; END$$`,
    'CREATE TRIGGER stamped BEFORE INSERT ON folders FOR EACH ROW EXECUTE FUNCTION stamped()',
  ],
  mysql: [`CREATE TRIGGER stamped BEFORE INSERT ON folders FOR EACH ROW SET NEW.stamp = 'table'`],
  sqlite: [
    `CREATE TRIGGER stamped AFTER INSERT ON folders BEGIN UPDATE folders SET stamp = 'table' WHERE id = NEW.id; END`,
  ],
} as const

const uuid = (n: number) => `0189f7ea-ae2c-7809-8aeb-b819cf5e9e${String(n).padStart(2, '0')}`
const [ACME, OTHER, NOBODYS] = [uuid(1), uuid(2), uuid(3)]
const REFUSED = Symbol('refused')
/** How many calls come before those of the rows of others. */
const OF_OTHERS = 9

type Rows = readonly Record<string, unknown>[]
type Operations = Record<string, (...operands: readonly unknown[]) => Promise<unknown>>

describeOn(
  'rows of other tenants and of none, in tables that are there',
  [...databases, ...coalesced],
  (backend) => {
    let dataSource: DataSource
    let close: () => Promise<void>
    let folders: Operations
    let papers: Operations
    const engine = engineOf(backend.name) ?? 'sqlite'
    const sql = (text: string) =>
      dataSource.query<Rows>(engine === 'mysql' ? text.replaceAll('"', '`') : text)
    const as = <T>(tenant: string, fn: () => Promise<T>) => RequestContext.as({ tenant, subject: 'ada' }, fn)

    before(async () => {
      const opened = await backend.open([Person, Folder, Paper])
      dataSource = opened.dataSource as DataSource
      close = opened.close
      const { uuid: id, text, time } = TYPES[engine]
      const both = `id ${id} PRIMARY KEY, "orgId" ${id}, "deletedAt" ${time}, "expiresAt" ${time}, "delete_id" ${text}`
      await sql(
        `CREATE TABLE folders (${both}, title ${text}, code ${text} UNIQUE, stamp ${text}, "apiKeyHash" ${text}, "apiKeyCipher" ${text}, etag ${text}, "ownerId" ${id})`,
      )
      await sql(`CREATE TABLE papers (${both}, "folderId" ${id} REFERENCES folders (id))`)
      for (const statement of TRIGGERS[engine]) await sql(statement)
      const encryptor = newDev(Buffer.alloc(32, 7))
      folders = new (repositoryOf(Folder))(dataSource, { encryptor } as never) as never
      papers = new (repositoryOf(Paper))(dataSource) as never
    })
    after(() => close?.())

    it('are neither read nor written by any call, and no call fails with INTERNAL', async () => {
      const create = (tenant: string, code: string) =>
        as(tenant, () => folders['create']?.({ title: code, code, apiKey: 'same' }) as Promise<Folder>)
      const [mine, theirs] = [await create(ACME, 'mine'), await create(OTHER, 'theirs')]
      expect(mine).to.include({ orgId: ACME, stamp: 'table' })
      const past = `'2001-01-01 00:00:00'`
      await sql(`INSERT INTO folders (id, title, etag, "expiresAt") VALUES ('${NOBODYS}', 'n', 'e', ${past})`)
      for (const [at, org, folder] of [
        [10, 'NULL', mine.id],
        [11, `'${ACME}'`, NOBODYS],
        [12, `'${OTHER}'`, mine.id],
        [13, `'${ACME}'`, theirs.id],
      ] as const)
        await sql(`INSERT INTO papers (id, "orgId", "folderId") VALUES ('${uuid(at)}', ${org}, '${folder}')`)
      const kept = async () =>
        Promise.all(
          ['folders', 'papers'].map((table) =>
            sql(`SELECT * FROM ${table} WHERE "orgId" IS NULL OR "orgId" <> '${ACME}' ORDER BY id`),
          ),
        )
      const before = await kept()
      const calls = Object.entries({
        list: () => folders['list']?.({ showDeleted: true }),
        related: () => folders['list']?.({ with: ['papers'] }),
        ordered: () => folders['list']?.({ orderBy: 'display_name desc', filter: 'code != "x"' }),
        referring: () => papers['list']?.({ with: ['folder'] }),
        count: () => folders['count']?.({}),
        purge: () => folders['purgeExpired']?.(new Date()),
        purgePapers: () => papers['purgeExpired']?.(new Date()),
        taken: () => folders['create']?.({ code: 'theirs' }),
        batch: () => folders['batchGet']?.([mine.id, theirs.id]),
        ...Object.fromEntries(
          [theirs.id, NOBODYS].flatMap((id): [string, () => unknown][] => [
            [`get ${id}`, () => folders['get']?.(id)],
            [`update ${id}`, () => folders['update']?.(id, { title: 'x' }, ['display_name'])],
            [`delete ${id}`, () => folders['delete']?.(id, { force: true })],
            [`undelete ${id}`, () => folders['undelete']?.(id)],
            [`reveal ${id}`, () => folders['revealApiKey']?.(id)],
            [`refer to ${id}`, () => papers['create']?.({ folderId: id })],
            [`batch delete ${id}`, () => folders['batchDelete']?.([id])],
          ]),
        ),
      })
      const outcomes = await Promise.all(
        calls.map(async ([name, call]) =>
          as(ACME, async () => call()).then(
            (value) => [name, value] as const,
            (error: unknown) => {
              expect(error, name).to.be.instanceOf(AshlarError)
              expect((error as AshlarError).code, name).to.not.equal('INTERNAL')
              return [name, REFUSED] as const
            },
          ),
        ),
      )
      for (const [name, value] of outcomes) expect(foreignIn(value), name).to.deep.equal([])
      const refused = outcomes.flatMap(([name, value]) => (value === REFUSED ? [name] : []))
      expect(refused).to.deep.equal(['taken', 'batch', ...calls.map(([name]) => name).slice(OF_OTHERS)])
      expect(await kept()).to.deep.equal(before)
      await as(ACME, async () => folders['delete']?.(mine.id, { force: true })).catch(() => undefined)
      await as(ACME, async () => folders['undelete']?.(mine.id)).catch(() => undefined)
      await RequestContext.asSystem(async () => {
        expect(JSON.stringify(await folders['list']?.({ showDeleted: true }))).to.not.include(NOBODYS)
        expect(await folders['purgeExpired']?.(new Date())).to.equal(0)
      })
      expect(await kept()).to.deep.equal(before)
    })
  },
)

/** The tenants other than one's own in whatever an operation has returned. */
function foreignIn(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return []
  const inside = Object.values(value).flatMap(foreignIn)
  const own: unknown = Reflect.get(value, 'orgId')
  return own === undefined || own === ACME ? inside : [own, ...inside]
}
