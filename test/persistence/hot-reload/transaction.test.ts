import { expect } from 'chai'
import type { EntityManager } from 'typeorm'
import { RequestContext } from '../../../lib/context.js'
import { executorOf } from '../../../lib/persistence/engines/executor-of.js'
import { HotDataSource } from '../../../lib/persistence/hot-reload/hot-data-source.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { Note } from '../../support/entities/specimen.js'
import { rejection } from '../../support/rejection.js'
import { hotServer, type HotServer } from './hot-server.js'
import { HotSecret } from './secret.js'

const quiet = { info: () => {}, warn: () => {} }
const note = (name: string): Note => Object.assign(new Note(), { name, text: '', stars: 1 })

class Stop extends Error {}

for (const engine of ['postgres', 'mysql'] as const)
  describe(`a transaction on a HotDataSource on ${engine}`, () => {
    let server: HotServer
    let secret: HotSecret
    let dataSource: HotDataSource
    let notes: InstanceType<ReturnType<typeof repositoryOf<Note>>>
    let b: string

    before(async function () {
      const found = await hotServer(engine)
      if (found === undefined) return this.skip()
      server = found
    })
    after(() => server?.drop())
    beforeEach(async () => {
      secret = new HotSecret(await server.user('a', 'hunter2'))
      b = await server.user('b', 'hunter3')
      if (engine === 'postgres') await server.rows('GRANT ALL ON SCHEMA public TO PUBLIC')
      dataSource = new HotDataSource({
        dsn: secret.dsn(engine),
        ...(engine === 'mysql' && { type: 'mariadb' }),
        entities: [Note],
        poolSize: 2,
        debounceMs: 20,
        reloadLogger: quiet,
      })
      await dataSource.initialize()
      await createTables(dataSource, [Note], executorOf(dataSource).dialect.name)
      if (engine === 'postgres') await server.rows('GRANT ALL ON notes TO PUBLIC')
      notes = new (repositoryOf(Note))(dataSource)
    })
    afterEach(async () => {
      if (dataSource?.isInitialized) await dataSource.destroy()
      secret?.remove()
      await server?.rows('DROP TABLE IF EXISTS notes')
    })

    const moved = () =>
      new Promise<void>((resolve) => {
        const stop = dataSource.on('reload', () => {
          stop()
          resolve()
        })
        secret.rewrite(b)
      })
    const names = async () => (await notes.list()).items.map(({ name }) => name)
    const user = async (on: Pick<EntityManager, 'query'>): Promise<string> => {
      const [row] = await on.query<{ who: string }[]>(
        engine === 'postgres' ? 'SELECT current_user AS who' : 'SELECT user() AS who',
      )
      return row!.who.replace(/@.*/, '').slice(-1)
    }
    const asAda = <T>(fn: () => Promise<T>): Promise<T> => RequestContext.as({ subject: 'ada' }, fn)

    it('has manager, sql and repositories in it, before and after the DSN has changed', () =>
      asAda(async () => {
        const write = (prefix: string, end: () => unknown) =>
          notes.transaction(async (context) => {
            const { manager, sql } = context
            await notes.create(note(`${prefix} repository`))
            await manager.save(note(`${prefix} manager`))
            await sql`INSERT INTO notes (name, text, stars) VALUES (${`${prefix} sql`}, ${''}, ${1})`
            await manager.transaction((inner) => inner.save(note(`${prefix} nested`)))
            await end()
            return user(manager)
          })
        const all = (prefix: string) =>
          ['manager', 'nested', 'repository', 'sql'].map((how) => `${prefix} ${how}`)
        const stop = () => {
          throw new Stop()
        }
        await rejection(write('0', stop), Stop)
        expect(await write('1', () => {})).to.equal('a')
        await moved()
        await rejection(write('0', stop), Stop)
        expect(await write('2', () => {})).to.equal('b')
        expect(await names()).to.deep.equal([...all('1'), ...all('2')])
      }))

    it('ends as the user that it was begun as where the DSN changes inside of it', () =>
      asAda(async () => {
        const users = await notes.transaction(async (context) => {
          await context.manager.save(note('before'))
          const first = await user(context.manager)
          await moved()
          await notes.create(note('after'))
          return [first, await user(context.manager)]
        })
        expect(users).to.deep.equal(['a', 'a'])
        expect(await notes.transaction(({ manager }) => user(manager))).to.equal('b')
        expect(await names()).to.deep.equal(['after', 'before'])
        await server.gone('a')
      }))

    it('of TypeORM is joined by withManager, before and after the DSN has changed', () =>
      asAda(async () => {
        const write = (prefix: string, end: () => unknown) =>
          dataSource.transaction(async (manager) => {
            await manager.save(note(`${prefix} manager`))
            await notes.withManager(manager).create(note(`${prefix} repository`))
            await end()
            return user(manager)
          })
        const stop = () => {
          throw new Stop()
        }
        await rejection(write('0', stop), Stop)
        expect(await write('1', () => {})).to.equal('a')
        await moved()
        await rejection(write('0', stop), Stop)
        expect(await write('2', () => {})).to.equal('b')
        expect(await names()).to.deep.equal(
          ['1', '2'].flatMap((prefix) => [`${prefix} manager`, `${prefix} repository`]),
        )
      }))
  })
