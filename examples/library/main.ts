import { DataSource } from 'typeorm'
import {
  devAuthorizer,
  devPrincipal,
  jsonLogger,
  type Logger,
  type Server,
  ServerBuilder,
  SqliteDataSource,
} from '../../lib/index.js'
import { DefaultGRPCAddr } from '../../lib/server/index.js'
import { Book } from './book.js'
import { BookRepository } from './book-repository.js'
import { BookService, LibraryService } from './gen/library_pb.js'
import { bookName, shelfName } from './names.js'
import { Shelf } from './shelf.js'
import { ShelfRepository } from './shelf-repository.js'

export interface LibraryServerOptions {
  readonly dataSource: DataSource
  readonly grpcAddr: string
  readonly httpAddr: string
  /** One record per call on stderr when left out. */
  readonly logger?: Logger
}

/** Where shelves and books live: a SQLite file or `:memory:`, or the URL of a PostgreSQL database that has their tables. */
export const libraryDataSource = (database: string): DataSource =>
  /^postgres(ql)?:/.test(database)
    ? new DataSource({ type: 'postgres', url: database, connectTimeoutMS: 10_000, entities: [Shelf, Book] })
    : new SqliteDataSource({ database, entities: [Shelf, Book] })

/** A server for shelves and books: gRPC, and HTTP/JSON in front of it. */
export function libraryServer(options: LibraryServerOptions): Server {
  const { dataSource, grpcAddr, httpAddr, logger = jsonLogger() } = options
  const shelves = new ShelfRepository(dataSource)
  const books = new BookRepository(dataSource)
  const grant = { tenant: '*', subjects: ['group:staff'], verbs: ['*'] }

  return new ServerBuilder()
    .grpcAddr(grpcAddr)
    .httpAddr(httpAddr)
    .logger(logger)
    .gateway({
      updateMask: 'normalize',
      openapi: { title: 'Library', version: '1.0.0', license: { name: 'MIT', identifier: 'MIT' } },
    })
    .principalFunc(devPrincipal)
    .authorizer(devAuthorizer(['shelf', 'book'].map((resource) => ({ ...grant, resource }))))
    .allowDevelopment()
    .register(LibraryService, shelves, {
      mergeShelves: async ({ name, otherShelf }) => {
        const { shelf } = shelfName.parse(name)
        const other = shelfName.parse(otherShelf, 'other_shelf')
        return shelves.model.toMessage(await shelves.merge(shelf, other.shelf))
      },
    })
    .register(BookService, books, {
      moveBook: async ({ name, otherShelfName }) => {
        const { shelf, book } = bookName.parse(name)
        const to = shelfName.parse(otherShelfName, 'other_shelf_name')
        return books.model.toMessage(await books.move(book, shelf, to.shelf))
      },
    })
    .build()
}

if (import.meta.filename === process.argv[1]) {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  const dataSource = await libraryDataSource(process.env['LIBRARY_DATABASE'] ?? 'library.sqlite').initialize()
  const server = libraryServer({
    dataSource,
    grpcAddr: process.env['GRPC_ADDR'] ?? DefaultGRPCAddr,
    httpAddr: process.env['HTTP_ADDR'] ?? ':8080',
  })
  await server.serve(stop.signal)
  await dataSource.destroy()
}
