import { expect } from 'chai'
import 'reflect-metadata'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { RenamedFrom } from '../../../decorators/property-mapping.js'
import { Resource } from '../../../decorators/resource.js'
import { Searchable } from '../../../decorators/searchable.js'
import { TenantScoped } from '../../../decorators/tenant-scoped.js'
import { migrate, type Progress, searchMigrations } from '../../../lib/migrations/index.js'
import { nextSearchVersion } from '../../../lib/migrations/files/search-migrations.js'
import { schemaComparison, schemaModel, searchTables } from '../../../lib/persistence/index.js'
import { failureOf, file, onEachEngine, problemOf } from '../each-engine.js'
import { freshDatabase, type FreshDatabase } from '../fresh-database.js'

type Files = Readonly<Record<string, string>>

/** A resource `notes` with the columns `title` and others, all of them searched. */
function notes(
  columns: Readonly<
    Record<string, { readonly renamedFrom?: string; readonly isSearched?: boolean; readonly length?: number }>
  >,
  search: { readonly strategy?: 'INDEXED' } = { strategy: 'INDEXED' },
) {
  class Note {}
  const declare = (name: string, ...decorators: readonly PropertyDecorator[]) => {
    Reflect.defineMetadata('design:type', String, Note.prototype, name)
    for (const decorate of decorators) decorate(Note.prototype, name)
  }
  declare('id', PrimaryColumn())
  declare('accountId')
  for (const [name, { renamedFrom, isSearched = true, length = 100 }] of Object.entries(columns))
    declare(
      name,
      Column({ length }),
      ...(isSearched ? [Searchable()] : []),
      ...(renamedFrom === undefined ? [] : [RenamedFrom(renamedFrom)]),
    )
  for (const decorate of [Searchable(search), TenantScoped(), Entity('notes'), Resource()]) decorate(Note)
  return { Note }
}

const BEFORE = notes({ title: {}, body: {} })

onEachEngine(
  'search versions',
  (database) => {
    const others: FreshDatabase[] = []
    afterEach(async () => {
      for (const one of others.splice(0)) await one.drop()
    })
    const another = async () => {
      const made = await freshDatabase(database().url)
      others.push(made)
      return made
    }
    const on = ({ url }: FreshDatabase, files: Files, onProgress?: (event: Progress) => void) =>
      migrate({ url, files, ...(onProgress !== undefined && { onProgress }) })

    /** Appends what a comparison writes. */
    const differing = async (files: Files, entities: Files | object, part: 'expand' | 'contract') => {
      const { changes } = await on(database(), files).diff(schemaModel(Object.values(entities)))
      const first = Math.max(
        1,
        ...Object.keys(files)
          .map((name) => Number(name.slice(0, 4)))
          .filter((n) => n < 9000),
      )
      const next = nextSearchVersion(Object.keys(files))
      const made = changes[part].map(({ what, up, down, isSearch }, at) =>
        file(`${String((isSearch === true ? next : first + 1) + at).padStart(4, '0')}_${what}`, up, down),
      )
      return { files: Object.assign({ ...files }, ...made) as Files, changes }
    }
    const searched = (files: Files, entities: Readonly<Record<string, unknown>>): Files => ({
      ...files,
      ...searchMigrations(searchTables(entities).tables, files),
    })
    const verify = (one: FreshDatabase, files: Files, entities: object) =>
      on(one, files).verify(schemaComparison(Object.values(entities)))

    /** The folder after each deployment: the first one, with the expanding files, with the contract. */
    const deployments = async (after: Readonly<Record<string, unknown>>) => {
      const first = searched((await differing({}, BEFORE, 'expand')).files, BEFORE)
      const expanded = searched((await differing(first, after, 'expand')).files, after)
      const { files, changes } = await differing(expanded, after, 'contract')
      expect([changes.vectors, changes.byHand]).to.deep.equal([[], []])
      return [first, expanded, files] as const
    }

    const CHANGES = {
      'a searched column is removed': notes({ title: {} }),
      'a searched column is renamed': notes({ name: { renamedFrom: 'title' }, body: {} }),
      'a searched column stays in the table': notes({ title: {}, body: { isSearched: false } }),
    }
    for (const [what, after] of Object.entries(CHANGES))
      it(`go up and down in every order where ${what}`, async () => {
        const [first, expanded, all] = await deployments(after)
        const [second, third] = [await another(), await another()]
        // Step by step, all at once, and the second and third deployment at once.
        for (const files of [first, expanded, all]) await on(database(), files).up()
        await on(second, all).up()
        await on(third, first).up()
        await third.rows(`INSERT INTO notes (account_id, id, title, body) VALUES ('t', 'a', 'red', 'green')`)
        await on(third, all).up()
        for (const one of [database(), second, third]) {
          expect(await verify(one, all, after)).to.deep.equal([])
          expect(await on(one, all).up()).to.deep.equal({ applied: [], ahead: [] })
        }
        expect(await third.rows(`SELECT id FROM notes WHERE search_vector @@ 'red'::tsquery`)).to.deep.equal([
          { id: 'a' },
        ])
        expect(await on(database(), all).tryDowns()).to.deep.equal([])

        for (const one of [database(), second, third]) {
          await on(one, all).down(1)
          expect(await one.tables()).to.not.include('notes')
          await on(one, all).up()
          expect(await verify(one, all, after)).to.deep.equal([])
        }
      })

    it('go back to the last vector that can be made, where the one between reads a column that is gone', async () => {
      const wider = notes({ title: {}, summary: {} })
      const only = notes({ title: {} })
      const first = searched((await differing({}, only, 'expand')).files, only)
      const second = searched((await differing(first, wider, 'expand')).files, wider)
      const third = searched(second, only)
      const { files } = await differing(third, only, 'contract')

      const events: Progress[] = []
      const result = await on(database(), files, (event) => events.push(event)).up()
      expect(result.recorded).to.deep.equal(['9003_notes_search_vector', '9004_notes_search_gin'])
      expect(result.applied)
        .to.include('9001_notes_search_vector')
        .and.not.include('9003_notes_search_vector')
      expect(events.filter(({ kind }) => kind === 'recorded')).to.deep.equal([
        {
          kind: 'recorded',
          version: '9003_notes_search_vector',
          because: 'sourceGone',
          needless: { replacedBy: '9005_notes_search_vector' },
        },
        {
          kind: 'recorded',
          version: '9004_notes_search_gin',
          because: 'vectorNotMade',
          needless: { replacedBy: '9005_notes_search_vector' },
        },
      ])
      expect(await verify(database(), files, only)).to.deep.equal([])
      const [state] = (await on(database(), files).status()).filter(({ version }) => version === 9003)
      expect([state?.state, state?.isRecorded]).to.deep.equal(['applied', true])
      expect(await on(database(), files).tryDowns()).to.deep.equal([])

      const [rollBack] = (await on(database(), files).rollBacks(9004)).slice(-1)
      expect([rollBack?.name, rollBack?.loses, rollBack?.staysLost]).to.deep.equal([
        '9005_notes_search_vector',
        [],
        [],
      ])
      events.length = 0
      await on(database(), files, (event) => events.push(event)).down(9004)
      const how = { kind: 'earlierVector' }
      const recovering = { kind: 'recovering', version: '9005_notes_search_vector', how }
      expect(events.filter(({ kind }) => kind === 'recovering')).to.deep.equal([recovering, recovering])
      expect(await verify(database(), files, only)).to.deep.equal([
        { kind: 'pending', version: '9005_notes_search_vector' },
        { kind: 'pending', version: '9006_notes_search_gin' },
      ])
    })

    it('are ended by a file behind them where search is not INDEXED any more, and come back behind that', async () => {
      const plain = notes({ title: {}, body: {} }, {})
      const [first, , all] = await deployments(plain)
      expect(Object.keys(all).filter((name) => !(name in first))).to.deep.equal([
        '9003_notes_search_vector.up.sql',
        '9003_notes_search_vector.down.sql',
      ])
      const fresh = await another()
      await on(database(), first).up()
      for (const one of [database(), fresh]) {
        await on(one, all).up()
        expect(await verify(one, all, plain)).to.deep.equal([])
      }
      expect((await on(database(), all).lint()).filter(({ level }) => level !== 'advice')).to.deep.equal([])
      expect(await on(database(), all).tryDowns()).to.deep.equal([])
      const [rollBack] = await on(fresh, all).rollBacks()
      expect([rollBack?.loses, rollBack?.staysLost]).to.deep.equal([[], []])
      await on(fresh, all).down()
      expect(await verify(fresh, first, BEFORE)).to.deep.equal([])

      const again = searched(all, BEFORE)
      expect(Object.keys(again)).to.include('9004_notes_search_vector.up.sql')
      for (const one of [database(), fresh, await another()]) {
        await on(one, again).up()
        expect(await verify(one, again, BEFORE)).to.deep.equal([])
      }
    })

    it('are recorded where a file drops the table, and fail where nothing replaces them', async () => {
      const first = searched((await differing({}, BEFORE, 'expand')).files, BEFORE)
      const dropped = { ...first, ...file('0003_drop_notes', 'DROP TABLE notes', '-- it stays dropped') }
      expect((await on(database(), dropped).up()).recorded).to.deep.equal([
        '9001_notes_search_vector',
        '9002_notes_search_gin',
      ])
      await on(database(), dropped).down(2)
      expect(
        (await on(database(), dropped).status()).filter(({ state }) => state === 'pending'),
      ).to.have.length(3)

      const fresh = await another()
      const lost = { ...first, ...file('0003_drop_body', 'ALTER TABLE notes DROP COLUMN body', '-- none') }
      const { message } = await failureOf(on(fresh, lost).up())
      expect(message).to.include('column "body" does not exist').and.include('ashlar search generate writes')
      // The next run goes on as soon as a later vector is there.
      const mended = searched(lost, notes({ title: {} }))
      expect((await on(fresh, mended).up()).recorded).to.deep.equal([
        '9001_notes_search_vector',
        '9002_notes_search_gin',
      ])
    })

    it('are rolled back before a column that they read gets another type, and made anew by the next run', async () => {
      const shorter = notes({ title: { length: 50 }, body: {} })
      const first = searched((await differing({}, BEFORE, 'expand')).files, BEFORE)
      await on(database(), first).up()
      await database().rows(
        `INSERT INTO notes (account_id, id, title, body) VALUES ('t', 'a', 'red', 'green')`,
      )
      const { files } = await differing(first, shorter, 'contract')
      expect(searched(files, shorter)).to.deep.equal(files)

      const refused = problemOf(await failureOf(on(database(), files).up()))
      expect(refused).to.deep.include({ sqlState: '0A000', advice: { kind: 'readBySearch' } })
      const { rolledBack } = await on(database(), files).down(2)
      expect(rolledBack).to.include('9001_notes_search_vector').and.not.include('8001_outbox_log')
      const fresh = await another()
      for (const one of [database(), fresh]) {
        await on(one, files).up()
        expect(await verify(one, files, shorter)).to.deep.equal([])
      }
      expect(
        await database().rows(`SELECT id FROM notes WHERE search_vector @@ 'red'::tsquery`),
      ).to.deep.equal([{ id: 'a' }])
    })

    it('come before the contract that drops a column which they read', async () => {
      const first = searched((await differing({}, BEFORE, 'expand')).files, BEFORE)
      const { changes } = await differing(first, notes({ title: {} }), 'contract')
      expect(changes.vectors.map(({ kind, table }) => [kind, table])).to.deep.equal([
        ['outdatedVector', 'notes'],
      ])
    })
  },
  { dialects: ['postgres'] },
)
