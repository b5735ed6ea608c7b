import { expect } from 'chai'
import { Column, type DataSource, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm'
import { Resource, TenantScoped } from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import { ErrConflict, ErrNotFound, InvalidArgument } from '../../../lib/errors.js'
import { schemaComparison } from '../../../lib/persistence/comparison/schema-comparison.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import type { TableNote } from '../../../lib/text/table-difference.js'
import { liveSchemaOf } from '../../persistence/comparison/live-schema.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { rejection } from '../../support/rejection.js'

@Resource({ existing: true })
@Entity('racks')
@TenantScoped()
class Rack {
  @PrimaryColumn('uuid') id!: string
  @Column({ type: 'varchar', length: 40 }) title!: string
  @Column({ type: 'uuid', nullable: true }) twin?: string
  accountId!: string
}

@Resource({ existing: true })
@Entity('boxes')
@TenantScoped()
class Box {
  @PrimaryColumn('uuid') id!: string
  @Column({ type: 'uuid', nullable: true }) rackId?: string
  @ManyToOne(() => Rack) @JoinColumn() rack?: Rack
  accountId!: string
}

/** A key that is declared as text. */
@Resource({ existing: true })
@Entity('texts')
@TenantScoped()
class Text {
  @PrimaryColumn({ type: 'varchar', length: 40 }) id!: string
  @Column({ type: 'varchar', length: 40 }) title!: string
  accountId!: string
}

const UUID = '0189f7ea-ae2c-7809-8aeb-b819cf5e9e7'
const PLAIN = [0, 1, 2, 3, 4].map((at) => `${UUID}${at}`)
const hex = (uuid: string) => uuid.replaceAll('-', '')
/** As five applications have stored them; one of them is no UUID. */
const STORED = [
  PLAIN[0]!.toUpperCase(),
  `{${PLAIN[1]}}`,
  hex(PLAIN[2]!),
  `{${hex(PLAIN[3]!).toUpperCase()}}`,
  'legacy-7',
]

const TYPES: Readonly<Record<string, readonly string[]>> = {
  sqlite: ['TEXT'],
  'better-sqlite3': ['TEXT'],
  mariadb: ['char(40)', 'varchar(40)'],
  mysql8: ['varchar(40)'],
}

const inAcme = <T>(fn: () => Promise<T>): Promise<T> =>
  RequestContext.as({ tenant: 'acme', subject: 'ada' }, fn)

for (const at of [0, 1])
  describeOn(
    `UUIDs that are stored as text in other formats (${at === 0 ? 'first' : 'second'} type of column)`,
    backends.filter(({ name }) => TYPES[name]?.[at] !== undefined),
    (backend) => {
      let dataSource: DataSource
      let close: () => Promise<void>
      const on = <E extends object>(entity: new () => E) => new (repositoryOf(entity))(dataSource)

      before(async () => {
        const opened = await backend.open([Rack, Box, Text])
        close = opened.close
        dataSource = opened.dataSource as DataSource
        const collation = backend.name.includes('sqlite')
          ? ''
          : ` COLLATE ${backend.name === 'mysql8' ? 'utf8mb4_nopad_bin' : 'utf8mb4_nopad_bin'}`
        const uuid = `${TYPES[backend.name]![at]}${collation}`
        const text = `varchar(40)${collation}`
        await dataSource.query(
          `CREATE TABLE racks (id ${uuid} PRIMARY KEY, title ${text} NOT NULL, twin ${uuid}, account_id ${text} NOT NULL)`,
        )
        await dataSource.query(
          `CREATE TABLE boxes (id ${uuid} PRIMARY KEY, rack_id ${uuid}, account_id ${text} NOT NULL, FOREIGN KEY (rack_id) REFERENCES racks (id))`,
        )
        for (const id of STORED) {
          await dataSource.query(`INSERT INTO racks VALUES ('${id}', 't', '${id}', 'acme')`)
          await dataSource.query(`INSERT INTO boxes VALUES ('${id}', '${id}', 'acme')`)
        }
      })
      after(() => close())

      it('finds a row by its UUID only', () =>
        inAcme(async () => {
          for (const { id } of (await on(Rack).list()).items) {
            expect(await on(Rack).get(id)).to.include({ id, title: 't', twin: id })
            expect((await on(Rack).update(id, { title: 'u' }, ['title'])).id).to.equal(id)
            const whole = await on(Rack).get(id)
            expect((await on(Rack).update(id, { ...whole, title: 't' })).twin).to.equal(id)
            expect((await on(Rack).batchGet([id]))[0]?.id).to.equal(id)
          }
          for (const other of [PLAIN[0]!, hex(PLAIN[0]!), PLAIN[1]!, PLAIN[2]!, `${STORED[0]} `]) {
            await rejection(on(Rack).get(other), ErrNotFound)
            await rejection(on(Rack).update(other, { title: 'x' }, ['title']), ErrNotFound)
            await rejection(on(Rack).delete(other), ErrNotFound)
          }
          await RequestContext.as({ tenant: 'globex', subject: 'eve' }, async () => {
            await rejection(on(Rack).get(STORED[0]!), ErrNotFound)
            await rejection(on(Rack).delete(STORED[0]!), ErrNotFound)
          })
        }))

      it('finds rows by filters and relations, and pages by every sort order', () =>
        inAcme(async () => {
          for (const id of STORED) {
            for (const filter of [`id = "${id}"`, `twin = "${id}"`])
              expect((await on(Rack).list({ filter })).items.map((one) => one.id)).to.deep.equal([id])
            expect((await on(Box).list({ filter: `rack_id = "${id}"` })).items).to.have.lengthOf(1)
            const box = await on(Box).get(id, { with: ['rack'] })
            expect(box.rack?.id).to.equal(id)
          }
          for (const orderBy of ['', 'id desc', 'twin', 'twin desc, id']) {
            const seen: string[] = []
            let pageToken = ''
            do {
              const page = await on(Rack).list({ pageSize: 1, pageToken, orderBy })
              seen.push(...page.items.map(({ id }) => id))
              pageToken = page.nextPageToken
            } while (pageToken !== '' && seen.length < 9)
            expect([...seen].sort()).to.deep.equal([...STORED].sort())
          }
        }))

      it('refers to a row by the stored text, and writes keys in the canonical format only', () =>
        inAcme(async () => {
          const key = 'fff9f7ea-ae2c-7809-8aeb-b819cf5e9e7f'
          expect((await on(Box).create({ id: key, rackId: STORED[0]! })).rackId).to.equal(STORED[0])
          await rejection(on(Box).update(key, { rackId: PLAIN[0]! }, ['rack_id']), InvalidArgument)
          await on(Box).delete(key)
          await rejection(on(Rack).create({ id: key.toUpperCase(), title: 'x' }), InvalidArgument)
          await rejection(on(Rack).create({ id: 'legacy-8', title: 'x' }), InvalidArgument)
        }))

      it('rejects a create with the same UUID as a duplicate', () =>
        inAcme(async () => {
          for (const id of PLAIN.slice(0, 4))
            await rejection(on(Rack).create({ id, title: 'twin' }), ErrConflict)
          expect((await on(Rack).create({ id: PLAIN[4]!, title: 'new' })).id).to.equal(PLAIN[4])
          await on(Rack).delete(PLAIN[4]!)
        }))

      if (!backend.name.includes('sqlite'))
        it('lists them in verify, with the statement that rewrites them', async () => {
          const notes: TableNote[] = []
          const compare = schemaComparison([Rack], { note: (one) => void notes.push(one) })
          await compare(liveSchemaOf(dataSource))
          const found = notes.filter(({ kind }) => kind === 'rowsInOtherFormats')
          expect(found.map(({ column, rows }) => [column, rows])).to.have.deep.members([
            ['id', 4],
            ['twin', 4],
          ])
          await dataSource.query('DELETE FROM boxes')
          for (const { detail } of found) await dataSource.query(detail.replace(/^.*: (?=UPDATE )/, ''))
          const { items } = await inAcme(() => on(Rack).list())
          expect(items.map(({ id }) => id)).to.have.members([...PLAIN.slice(0, 4), 'legacy-7'])
          expect(items.every(({ id, twin }) => id === twin)).to.equal(true)
        })
    },
  )

describeOn(
  'a UUID in a key that is declared as text',
  backends.filter(({ name }) => name !== 'memory'),
  (backend) => {
    it('is taken in every format for a create with the canonical one', async () => {
      const { dataSource, close } = await backend.open([Rack, Box, Text])
      try {
        const collation = /mariadb|mysql8/.test(backend.name) ? ' COLLATE utf8mb4_nopad_bin' : ''
        const text = `varchar(40)${collation} NOT NULL`
        await dataSource!.query(
          `CREATE TABLE texts (id ${text} PRIMARY KEY, title ${text}, account_id ${text})`,
        )
        for (const id of STORED) await dataSource!.query(`INSERT INTO texts VALUES ('${id}', 't', 'acme')`)
        const texts = new (repositoryOf(Text))(dataSource!)
        await inAcme(async () => {
          for (const id of STORED) expect((await texts.get(id)).id).to.equal(id)
          for (const id of PLAIN.slice(0, 4))
            await rejection(texts.create({ id, title: 'twin' }), ErrConflict)
          expect((await texts.create({ id: PLAIN[4]!, title: 'new' })).id).to.equal(PLAIN[4])
        })
      } finally {
        await close()
      }
    })
  },
)

describeOn(
  'a UUID in a native column',
  backends.filter(({ name }) => name === 'postgres' || name === 'mariadb'),
  (backend) => {
    it('has one text, and is written and filtered by it alone', async () => {
      const { dataSource, close } = await backend.open([Rack, Box, Text])
      try {
        const collation = backend.name === 'mariadb' ? ' COLLATE utf8mb4_nopad_bin' : ''
        await dataSource!.query(
          `CREATE TABLE racks (id uuid PRIMARY KEY, title varchar(40)${collation} NOT NULL, twin uuid, account_id varchar(40)${collation} NOT NULL)`,
        )
        const racks = new (repositoryOf(Rack))(dataSource!)
        await inAcme(async () => {
          const [id] = PLAIN as [string]
          await racks.create({ id, title: 't', twin: id })
          expect(await racks.get(id)).to.include({ id, twin: id })
          for (const other of [id.toUpperCase(), hex(id), `{${id}}`]) {
            await rejection(racks.get(other), ErrNotFound)
            await rejection(racks.update(other, { title: 'x' }, ['title']), ErrNotFound)
            await rejection(racks.delete(other), ErrNotFound)
            expect(await racks.batchGet([other], { allowMissing: true })).to.deep.equal([])
            await rejection(racks.create({ id: other, title: 'x' }), InvalidArgument)
            if (backend.name !== 'postgres') continue
            await rejection(racks.list({ filter: `id = "${other}"` }), InvalidArgument)
            await rejection(racks.count({ filter: `twin = "${other}"` }), InvalidArgument)
            await rejection(racks.update(id, { twin: other }, ['twin']), InvalidArgument)
          }
        })
      } finally {
        await close()
      }
    })
  },
)
