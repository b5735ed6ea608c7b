import type { DescService } from '@bufbuild/protobuf'
import { status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Book } from '../../../examples/library/book.js'
import { BookService, LibraryService } from '../../../examples/library/gen/library_pb.js'
import { BookRepository } from '../../../examples/library/book-repository.js'
import { libraryDataSource, libraryServer } from '../../../examples/library/main.js'
import { bookName, shelfName } from '../../../examples/library/names.js'
import { Shelf } from '../../../examples/library/shelf.js'
import { ShelfRepository } from '../../../examples/library/shelf-repository.js'
import {
  type Code,
  ErrConflict,
  ErrPreconditionFailed,
  HTTP_STATUS,
  Unimplemented,
} from '../../../lib/errors.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { ServerBuilder } from '../../../lib/server/index.js'
import { securityCheck } from '../../../lib/testing/index.js'
import { type BackendName, databases, describeOn } from '../../support/databases/backends.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { rejection } from '../../support/rejection.js'
import { root } from '../../support/root.js'
import { post, recordingLogger } from '../../support/servers/server.js'

const WHO = { 'account-id': 'acme', subject: 'ada', groups: 'staff' } as const
const GLOBEX = { ...WHO, 'account-id': 'globex' }

/** A call as a client sends it: over gRPC, and as HTTP/JSON. */
interface Sent {
  readonly service: DescService
  readonly method: string
  readonly request: object
  readonly http: readonly [verb: string, path: string, body?: object]
}

/** What a client gets, whatever the listener. */
interface Got {
  readonly code: string
  readonly body: Readonly<Record<string, unknown>>
  readonly error: string
}

const shelf = (id: string): string => shelfName.format({ shelf: id })
const book = (on: string, id: string): string => bookName.format({ shelf: on, book: id })

const createShelf = (id: string, theme: string): Sent => ({
  service: LibraryService,
  method: 'CreateShelf',
  request: { shelf: { theme }, shelf_id: id },
  http: ['POST', `/v1/shelves?shelf_id=${id}`, { theme }],
})
const getShelf = (name: string): Sent => ({
  service: LibraryService,
  method: 'GetShelf',
  request: { name },
  http: ['GET', `/v1/${name}`],
})
const listShelves: Sent = {
  service: LibraryService,
  method: 'ListShelves',
  request: {},
  http: ['GET', '/v1/shelves'],
}
const deleteShelf = (name: string): Sent => ({
  service: LibraryService,
  method: 'DeleteShelf',
  request: { name },
  http: ['DELETE', `/v1/${name}`],
})
const mergeShelves = (name: string, other: string): Sent => ({
  service: LibraryService,
  method: 'MergeShelves',
  request: { name, other_shelf: other },
  http: ['POST', `/v1/${name}:merge`, { otherShelf: other }],
})
const createBook = (parent: string, id: string, title: string): Sent => ({
  service: BookService,
  method: 'CreateBook',
  request: { parent, book: { title, author: 'A.' }, book_id: id },
  http: ['POST', `/v1/${parent}/books?book_id=${id}`, { title, author: 'A.' }],
})
const getBook = (name: string): Sent => ({
  service: BookService,
  method: 'GetBook',
  request: { name },
  http: ['GET', `/v1/${name}`],
})
const searchBooks = (q: string): Sent => ({
  service: BookService,
  method: 'ListBooks',
  request: { parent: 'shelves/-', q },
  http: ['GET', `/v1/shelves/-/books?q=${q}`],
})
const listBooks = (parent: string, filter = ''): Sent => ({
  service: BookService,
  method: 'ListBooks',
  request: { parent, filter },
  http: ['GET', `/v1/${parent}/books?filter=${encodeURIComponent(filter)}`],
})
const batchGet = (parent: string, names: readonly string[]): Sent => ({
  service: BookService,
  method: 'BatchGetBooks',
  request: { parent, names },
  http: ['GET', `/v1/${parent}/books:batchGet?${names.map((name) => `names=${name}`).join('&')}`],
})
const readBook = (name: string): Sent => ({
  service: BookService,
  method: 'UpdateBook',
  request: { book: { name, read: true }, update_mask: { paths: ['read'] } },
  http: ['PATCH', `/v1/${name}?update_mask=read`, { read: true }],
})
const deleteBook = (name: string): Sent => ({
  service: BookService,
  method: 'DeleteBook',
  request: { name },
  http: ['DELETE', `/v1/${name}`],
})
const moveBook = (name: string, to: string): Sent => ({
  service: BookService,
  method: 'MoveBook',
  request: { name, other_shelf_name: to },
  http: ['POST', `/v1/${name}:move`, { otherShelfName: to }],
})

/** Only migrations make the stored vector of a search. */
const VECTOR = readFileSync(
  join(root, 'examples/library/migrations/postgres/9001_books_search_vector.up.sql'),
  'utf8',
)

const SERVED = databases.filter(({ name }) =>
  (['sqlite', 'postgres', 'mariadb'] as readonly BackendName[]).includes(name),
)

describeOn('the library', SERVED, (backend) => {
  for (const listener of ['gRPC', 'HTTP'] as const)
    describe(`over ${listener}`, () => {
      let send: (sent: Sent, headers?: object) => Promise<Got>
      let close: () => Promise<void>

      before(async function () {
        const { dataSource, database, close: end } = await backend.open([Shelf, Book])
        if (dataSource === undefined || database === undefined) throw new TypeError('a database is needed')
        await createTables(dataSource, [Shelf, Book], database.dialect.name)
        if (database.dialect.name === 'postgres') await dataSource.query(VECTOR)
        const addresses = { grpcAddr: '127.0.0.1:0', httpAddr: '127.0.0.1:0' }
        const server = libraryServer({ dataSource, ...addresses, logger: recordingLogger() })
        const stop = new AbortController()
        const served = server.serve(stop.signal)
        await Promise.race([server.ready(), served])
        const clients = new Map(
          [LibraryService, BookService].map((one) => [
            one as DescService,
            new ForeignClient(one, server.grpcAddr()),
          ]),
        )
        send =
          listener === 'gRPC'
            ? async ({ service, method, request }, headers = WHO) => {
                const client = clients.get(service) as ForeignClient
                const { answer = {}, code, details } = await client.unary(method, request, headers as never)
                return { code: status[code], body: answer, error: details }
              }
            : async ({ http: [verb, path, body] }, headers = WHO) => {
                const init = body === undefined ? { headers, method: verb } : post(headers, body, verb)
                const response = await fetch(`http://${server.httpAddr()}${path}`, init as RequestInit)
                const json = (await response.json()) as Record<string, unknown>
                if (response.ok) return { code: 'OK', body: json, error: '' }
                const { code: number, message } = json as { readonly code: number; readonly message: string }
                const code = status[number] as Code
                expect(response.status).to.equal(HTTP_STATUS[code])
                return { code, body: {}, error: message }
              }
        close = async () => {
          for (const client of clients.values()) client.close()
          stop.abort()
          await served
          await end()
        }
      })
      after(() => close())

      const ok = async (sent: Sent): Promise<Got['body']> => {
        const { code, body, error } = await send(sent)
        expect(code, error).to.equal('OK')
        return body
      }
      const refused = async (sent: Sent, code: string, says = '', headers: object = WHO): Promise<void> => {
        const got = await send(sent, headers)
        expect(got.code, got.error).to.equal(code)
        expect(got.error).to.include(says)
      }
      const namesOf = (body: Got['body'], field: string) =>
        ((body[field] ?? []) as { name: string }[]).map(({ name }) => name)

      it('has shelves', async () => {
        for (const id of ['art', 'music', 'poetry'])
          expect(await ok(createShelf(id, `on ${id}`))).to.include({ name: shelf(id), theme: `on ${id}` })
        expect(await ok(getShelf(shelf('art')))).to.include({ name: shelf('art') })
        expect(namesOf(await ok(listShelves), 'shelves')).to.deep.equal(['art', 'music', 'poetry'].map(shelf))
        await refused(createShelf('art', 'again'), 'ALREADY_EXISTS')
        await refused(createShelf('Art', 'x'), 'INVALID_ARGUMENT', 'shelf_id')
        await refused(getShelf(shelf('none')), 'NOT_FOUND')
      })

      it('has books on them', async () => {
        expect(await ok(createBook(shelf('art'), 'b1', 'One'))).to.include({ name: book('art', 'b1') })
        for (const [on, id] of [
          ['art', 'b2'],
          ['music', 'b3'],
        ] as const)
          await ok(createBook(shelf(on), id, id))
        expect(await ok(getBook(book('art', 'b1')))).to.include({ title: 'One', author: 'A.' })
        expect(namesOf(await ok(listBooks(shelf('art'))), 'books')).to.deep.equal([
          book('art', 'b1'),
          book('art', 'b2'),
        ])
        expect(namesOf(await ok(listBooks('shelves/-', 'title = "b3"')), 'books')).to.deep.equal([
          book('music', 'b3'),
        ])
        const onMusic = listBooks('shelves/-', 'shelf.theme = "on music" AND NOT title = "b1"')
        expect(namesOf(await ok(onMusic), 'books')).to.deep.equal([book('music', 'b3')])
        expect(namesOf(await ok(listBooks(shelf('art'), 'shelf.theme = "on music"')), 'books')).to.deep.equal(
          [],
        )
        const both = [book('music', 'b3'), book('art', 'b1')]
        expect(namesOf(await ok(batchGet('shelves/-', both)), 'books')).to.deep.equal(both)
        await refused(batchGet(shelf('art'), both), 'NOT_FOUND')
        await refused(createBook(shelf('music'), 'b1', 'taken'), 'ALREADY_EXISTS')
        await refused(getBook(book('music', 'b1')), 'NOT_FOUND')
        expect(namesOf(await ok(searchBooks('one')), 'books')).to.deep.equal([book('art', 'b1')])
        expect((await send(createBook(shelf('none'), 'b9', 'nowhere'))).code).to.be.oneOf([
          'INVALID_ARGUMENT',
          'NOT_FOUND',
          'FAILED_PRECONDITION',
        ])
      })

      it('is read', async () => {
        expect(await ok(readBook(book('art', 'b1')))).to.include({
          name: book('art', 'b1'),
          read: true,
          title: 'One',
        })
        await refused(readBook(book('poetry', 'b1')), 'NOT_FOUND')
      })

      it('moves a book, whose name is another one then', async () => {
        expect(await ok(moveBook(book('art', 'b1'), shelf('poetry')))).to.include({
          name: book('poetry', 'b1'),
          title: 'One',
          read: true,
        })
        await refused(getBook(book('art', 'b1')), 'NOT_FOUND')
        await refused(moveBook(book('art', 'b1'), shelf('music')), 'NOT_FOUND')
        await refused(moveBook(book('poetry', 'b1'), shelf('none')), 'NOT_FOUND')
        await refused(moveBook(book('poetry', 'b1'), 'none'), 'INVALID_ARGUMENT', 'other_shelf_name')
        expect(await ok(getBook(book('poetry', 'b1')))).to.include({ title: 'One' })
      })

      it('merges shelves', async () => {
        await refused(deleteShelf(shelf('music')), 'FAILED_PRECONDITION')
        await refused(mergeShelves(shelf('art'), shelf('none')), 'NOT_FOUND')
        await refused(mergeShelves(shelf('art'), shelf('art')), 'INVALID_ARGUMENT', 'other_shelf')
        await refused(mergeShelves(shelf('art'), 'music'), 'INVALID_ARGUMENT', 'shelves/{shelf}')
        expect(await ok(mergeShelves(shelf('art'), shelf('music')))).to.include({ name: shelf('art') })
        await refused(getShelf(shelf('music')), 'NOT_FOUND')
        expect(namesOf(await ok(listBooks(shelf('art'))), 'books')).to.deep.equal([
          book('art', 'b2'),
          book('art', 'b3'),
        ])
      })

      it('is that of one tenant', async () => {
        for (const sent of [
          getShelf(shelf('art')),
          deleteShelf(shelf('art')),
          getBook(book('art', 'b2')),
          readBook(book('art', 'b2')),
          deleteBook(book('art', 'b2')),
          moveBook(book('art', 'b2'), shelf('poetry')),
          mergeShelves(shelf('art'), shelf('poetry')),
          batchGet('shelves/-', [book('art', 'b2')]),
        ])
          await refused(sent, 'NOT_FOUND', '', GLOBEX)
        const { body } = await send(listBooks('shelves/-'), GLOBEX)
        expect(namesOf(body, 'books')).to.deep.equal([])
      })

      it('removes books, and shelves that are empty', async () => {
        for (const id of ['b2', 'b3']) await ok(deleteBook(book('art', id)))
        await refused(deleteBook(book('art', 'b2')), 'NOT_FOUND')
        await ok(deleteShelf(shelf('art')))
        expect(namesOf(await ok(listShelves), 'shelves')).to.deep.equal([shelf('poetry')])
      })
    })
})

describe('the library', function () {
  it('can be checked with a rule that allows one book on each shelf', async () => {
    for (const Refused of [ErrPreconditionFailed, ErrConflict]) {
      class OneBook extends BookRepository {
        override async create(...[book, options]: Parameters<BookRepository['create']>): Promise<Book> {
          const there = await this.count({}, { under: filter`shelf_id = ${book.shelfId ?? ''}` })
          if (there > 0) throw new Refused()
          return super.create(book, options)
        }
      }
      const dataSource = await libraryDataSource(':memory:').initialize()
      const [shelves, books] = [new ShelfRepository(dataSource), new OneBook(dataSource)]
      const builder = new ServerBuilder()
        .register(LibraryService, shelves, {
          mergeShelves: () => Promise.reject(new Unimplemented('not written')),
        })
        .register(BookService, books, { moveBook: () => Promise.reject(new Unimplemented('not written')) })
      const path = '/library.v1.BookService/MoveBook'
      const report = await securityCheck(builder, { leaveOut: { [path]: 'it is not written' } })
      expect(report.findings).to.deep.equal([])
      expect(report.notChecked.filter(({ method }) => method === path)).to.deep.equal([
        { method: path, reason: 'left out by the options: it is not written; only its denial was checked' },
      ])
      const wrong = securityCheck(builder, { leaveOut: { '/library.v1.BookService/Move': '' } })
      await rejection(wrong, TypeError, 'is not a method of the server')
      await dataSource.destroy()
    }
  })

  it('has nothing that the security check finds', async () => {
    const dataSource = await libraryDataSource(':memory:').initialize()
    const addresses = { grpcAddr: '127.0.0.1:0', httpAddr: '127.0.0.1:0' }
    const server = libraryServer({ dataSource, ...addresses, logger: recordingLogger() })
    const report = await securityCheck(server, { as: { subject: 'ada', groups: ['staff'] } })
    expect([report.findings, report.notChecked]).to.deep.equal([[], []])
  })
})
