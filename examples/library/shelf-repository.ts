import type { DataSource } from 'typeorm'
import { filter, InvalidArgument, type Repository, repositoryFor, repositoryOf } from '../../lib/index.js'
import { Book } from './book.js'
import { Shelf } from './shelf.js'

const MOST_AT_ONCE = 1000

export class ShelfRepository extends repositoryOf(Shelf) {
  readonly #books: Repository<Book>

  constructor(dataSource: DataSource) {
    super(dataSource)
    this.#books = repositoryFor(Book, dataSource)
  }

  /** Puts all books of another shelf on this one and removes the other, all of it or nothing. */
  merge(id: string, other: string): Promise<Shelf> {
    if (id === other) throw new InvalidArgument('other_shelf', 'is the shelf that gets the books')
    return this.transaction(async () => {
      // Nobody puts a book on either of them in the meantime.
      const [shelf] = await this.batchGet([id, other], { lock: 'update' })
      const under = filter`shelf_id = ${other}`
      for (;;) {
        const { items } = await this.#books.list({ pageSize: MOST_AT_ONCE }, { under })
        if (items.length === 0) break
        for (const book of items)
          await this.#books.update(book.id, { shelfId: id }, ['shelf_id'], { outputOnly: true })
      }
      await this.delete(other)
      return shelf as Shelf
    })
  }
}
