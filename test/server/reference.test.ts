import { expect } from 'chai'
import { basename } from 'node:path'
import { Book } from '../../examples/library/book.js'
import { BookService, LibraryService } from '../../examples/library/gen/library_pb.js'
import { bookName } from '../../examples/library/names.js'
import { Shelf } from '../../examples/library/shelf.js'
import { WidgetService } from '../../examples/widgets/gen/widgets_pb.js'
import type { Widget as WidgetMessage } from '../../examples/widgets/gen/widgets_pb.js'
import { Widget } from '../../examples/widgets/widget.js'
import { filter, type Repository, ServerBuilder } from '../../lib/index.js'
import { ErrPreconditionFailed } from '../../lib/persistence/index.js'
import { MemoryDatabase } from '../../lib/persistence/memory/memory-database.js'
import { memoryRepositoryOf } from '../../lib/persistence/repository-of.js'
import { type ServerCall, supportsIfMatch, supportsRowAccess } from '../../lib/server/index.js'
import { testServer, type TestServer } from '../../lib/testing/index.js'
import { compiled } from '../support/root.js'
import { type PageFolder, pageFolder } from '../support/sources/page-module.js'

interface Page {
  readonly retireWidget: (widgets: object) => (request: { id: string }) => Promise<WidgetMessage>
}

describe('retire-widget.ts of docs/reference/handlers.md', () => {
  let page: PageFolder
  let server: TestServer

  before(async function () {
    if (basename(compiled) !== 'dist') return this.skip()
    page = pageFolder('docs/reference/handlers.md')
    const { retireWidget } = (await page.load('retire-widget.ts')) as unknown as Page
    const widgets = new (memoryRepositoryOf(Widget))()
    server = await testServer((builder) =>
      builder.register(WidgetService, widgets, { retireWidget: retireWidget(widgets) }),
    )
  })
  after(async () => {
    await server?.stop()
    page?.remove()
  })

  it('compares If-Match, which may be missing', async () => {
    const ada = server.as({ tenant: 'acme', subject: 'ada' })
    const { id, etag } = await ada.client(WidgetService).createWidget({ widget: { displayName: 'Anvil' } })
    const retire = async (ifMatch?: string) => {
      const headers = {
        'content-type': 'application/json',
        ...(ifMatch !== undefined && { 'if-match': ifMatch }),
      }
      const response = await ada.fetch(`/v1/widgets/${id}:retire`, { method: 'POST', headers, body: '{}' })
      return response.status
    }
    expect(await retire('"another"')).to.equal(412)
    expect(await retire(`"another", "${etag.replaceAll('"', '')}"`)).to.equal(200)
    expect(await retire(`"${etag.replaceAll('"', '')}"`)).to.equal(412)
    expect(await retire('*')).to.equal(200)
    expect(await retire()).to.equal(200)
  })
})

interface BookPage {
  readonly finishBook: (books: object, name: typeof bookName) => Finish
}
type Finish = (request: { name: string }, call: ServerCall) => never

/** The same as on the page, with the marks in the other order. */
const otherOrder = (books: Repository<Book>): Finish =>
  supportsRowAccess(
    books,
    supportsIfMatch(
      async (
        { name }: { name: string },
        { ifMatch }: ServerCall,
        restricted: Pick<typeof books, 'modify'>,
      ) => {
        const { shelf, book } = bookName.parse(name)
        const change = ({ etag }: Book) => {
          if (ifMatch !== undefined && !ifMatch.any && !ifMatch.etags.includes(etag))
            throw ErrPreconditionFailed.etag()
          return { read: true }
        }
        const finished = await restricted.modify(book, change, { where: filter`shelf_id = ${shelf}` })
        return books.model.toMessage(finished)
      },
    ),
  ) as Finish

describe('finish-book.ts of docs/reference/handlers.md', () => {
  let page: PageFolder
  let finishBook: BookPage['finishBook']

  before(async function () {
    if (basename(compiled) !== 'dist') return this.skip()
    page = pageFolder('docs/reference/handlers.md')
    finishBook = ((await page.load('finish-book.ts')) as unknown as BookPage).finishBook
  })
  after(() => page?.remove())

  for (const [order, handlerOf] of [
    ['as on the page', (books: Repository<Book>) => finishBook(books, bookName)],
    ['with the marks in the other order', otherOrder],
  ] as const)
    it(`compares If-Match, the parent and the rows of the caller, ${order}`, async () => {
      const database = new MemoryDatabase()
      const shelves = new (memoryRepositoryOf(Shelf))({ database })
      const books = new (memoryRepositoryOf(Book))({ database })
      const builder = new ServerBuilder({
        authorizer: {
          decidesByRow: true,
          authorize: ({ verb, principal }) =>
            verb === 'move' ? { where: filter`author = ${principal.subject}` } : true,
        },
      })
        .register(LibraryService, shelves, { mergeShelves: () => ({}) })
        .register(BookService, books, { moveBook: handlerOf(books) })
      const server = await testServer(builder)
      const ada = server.as({ tenant: 'acme', subject: 'ada' })
      const post = async (path: string, body: object, ifMatch?: string) => {
        const headers = {
          'content-type': 'application/json',
          ...(ifMatch !== undefined && { 'if-match': ifMatch }),
        }
        const request = { method: 'POST', headers, body: JSON.stringify(body) }
        const response = await ada.fetch(`/v1/${path}`, request)
        return { status: response.status, body: (await response.json()) as { etag: string; read?: boolean } }
      }
      const finish = async (path: string, ifMatch?: string) =>
        (await post(`shelves/${path}:move`, { otherShelfName: 'shelves/b' }, ifMatch)).status
      for (const shelf of ['a', 'b']) await post(`shelves?shelf_id=${shelf}`, {})
      const made = await post('shelves/a/books?book_id=mine', { title: 'Mine', author: 'ada' })
      await post('shelves/a/books?book_id=other', { title: 'Other', author: 'bob' })

      expect(await finish('a/books/mine', '"another"')).to.equal(412)
      expect(await finish('b/books/mine')).to.equal(404)
      expect(await finish('a/books/other')).to.equal(403)
      expect(await finish('a/books/mine', `"${made.body.etag}"`)).to.equal(200)
      expect(await finish('a/books/mine', `"${made.body.etag}"`)).to.equal(412)
      expect(await finish('a/books/mine')).to.equal(200)
      await server.stop()
    })
})
