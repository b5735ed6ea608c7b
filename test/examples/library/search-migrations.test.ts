import { expect } from 'chai'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as entities from '../../../examples/library/entities.js'
import { BookService, LibraryService } from '../../../examples/library/gen/library_pb.js'
import { libraryDataSource, libraryServer } from '../../../examples/library/main.js'
import { type FileSource, migrate } from '../../../lib/migrations/index.js'
import { tableMigrations } from '../../../lib/persistence/index.js'
import { testDatabase, type TestDatabase } from '../../support/databases/test-database.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { compiled, root } from '../../support/root.js'
import { serviceUrl } from '../../support/running/services.js'
import { runCommand } from '../../support/run-command.js'
import { recordingLogger } from '../../support/servers/server.js'

const FOLDER = join(root, 'examples', 'library')
const MIGRATIONS = join(FOLDER, 'migrations', 'postgres')
const { scripts } = JSON.parse(readFileSync(join(FOLDER, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>
}
const textsIn = (folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]))

describe('the library, whose search is INDEXED', () => {
  it('runs search generate and search sync before build, test and start', () => {
    expect(scripts['build']).to.match(/ && npm run --silent search$/)
    expect(scripts['test']).to.match(/^npm run build && /)
    expect(scripts['start']).to.match(/^npm run --silent search && /)
    expect(readFileSync(join(FOLDER, '.gitignore'), 'utf8')).to.match(/^generated\/$/m)
  })

  it('has the migrations that these steps write, and those of its tables', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ashlar-library-'))
    try {
      const hand = (name: string) => !/[\\/]9\d{3}_[^\\/]*$/.test(name)
      cpSync(MIGRATIONS, join(folder, 'migrations', 'postgres'), { recursive: true, filter: hand })
      for (const step of scripts['search']?.split(' && ') ?? []) {
        const words = step.split(' ').slice(2)
        const named =
          words[1] === 'generate' ? ['--entities', join(compiled, 'examples/library/entities.js')] : []
        expect((await runCommand([...words, ...named], { cwd: folder })).exit, step).to.equal(0)
      }
      expect(textsIn(join(folder, 'migrations', 'postgres'))).to.deep.equal(textsIn(MIGRATIONS))
    } finally {
      rmSync(folder, { recursive: true })
    }
    const texts = Object.values(textsIn(MIGRATIONS))
    for (const { sqlFor } of tableMigrations(entities)) expect(texts).to.include(sqlFor('postgres').up)
  })

  it('says what to do where these steps are left out', async function () {
    if (serviceUrl('postgres') === undefined) this.skip()
    const all = textsIn(MIGRATIONS)
    const without = Object.fromEntries(Object.entries(all).filter(([file]) => !file.startsWith('9')))
    const database = await testDatabase('postgres')
    try {
      const missing = await searched(database, without)
      expect([missing.code, missing.found]).to.deep.equal([13, []])
      expect(missing.told).to.match(
        /search_vector is missing: write, copy and apply its migrations with ashlar search generate, ashlar search sync and ashlar migrate up/,
      )
      const there = await searched(database, all)
      expect(there).to.deep.equal({ code: 0, found: ['shelves/s/books/b'], told: '' })
    } finally {
      await database.drop()
    }
  })
})

const WHO = { 'account-id': 'acme', subject: 'ada', groups: 'staff' } as const

/** A search once the files are applied, and what the log says of errors. */
async function searched(database: TestDatabase, files: FileSource) {
  await migrate({ url: database.url, files }).up()
  const dataSource = await libraryDataSource(database.url).initialize()
  const logger = recordingLogger()
  const server = libraryServer({ dataSource, grpcAddr: '127.0.0.1:0', httpAddr: '127.0.0.1:0', logger })
  const stop = new AbortController()
  const served = server.serve(stop.signal)
  await Promise.race([server.ready(), served])
  const client = new ForeignClient(BookService, server.grpcAddr())
  try {
    const shelves = new ForeignClient(LibraryService, server.grpcAddr())
    await shelves.unary('CreateShelf', { shelf: { theme: 'geology' }, shelf_id: 's' }, WHO)
    shelves.close()
    const book = { title: 'On stone', author: 'Ada' }
    await client.unary('CreateBook', { parent: 'shelves/s', book, book_id: 'b' }, WHO)
    const { code, answer } = await client.unary('ListBooks', { parent: 'shelves/-', q: 'stones' }, WHO)
    const { books = [] } = (answer ?? {}) as { readonly books?: readonly { readonly name: string }[] }
    const told = logger.records.map(({ fields }) =>
      String((fields['err'] as Error | undefined)?.message ?? ''),
    )
    return { code, found: books.map(({ name }) => name), told: told.join('') }
  } finally {
    client.close()
    stop.abort()
    await served
    await dataSource.destroy()
  }
}
