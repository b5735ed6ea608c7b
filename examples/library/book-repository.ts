import type { DataSource } from 'typeorm'
import { filter, type Repository, repositoryFor, repositoryOf } from '../../lib/index.js'
import { Book } from './book.js'
import { Shelf } from './shelf.js'

export class BookRepository extends repositoryOf(Book) {
  readonly #shelves: Repository<Shelf>

  constructor(dataSource: DataSource) {
    super(dataSource)
    this.#shelves = repositoryFor(Shelf, dataSource)
  }

  /** Puts a book that is on one shelf on another. Its name is another one from then on. */
  move(id: string, from: string, to: string): Promise<Book> {
    return this.transaction(async () => {
      // What a row refers to is locked before the row is.
      await this.#shelves.get(to, { lock: 'share' })
      return this.modify(id, () => ({ shelfId: to }), {
        where: filter`shelf_id = ${from}`,
        outputOnly: true,
      })
    })
  }
}
