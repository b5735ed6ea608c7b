import { ServerBuilder } from '../../lib/index.js'
import { LibraryService } from './gen/library_pb.js'
import { libraryDataSource } from './main.js'
import { shelfName } from './names.js'
import { Shelf } from './shelf.js'
import { ShelfRepository } from './shelf-repository.js'

/** The shelves with a planted hole, for `ashlar security-check`: GetShelf reads past the repository. */
export async function checked(): Promise<ServerBuilder> {
  const dataSource = await libraryDataSource(':memory:').initialize()
  const shelves = new ShelfRepository(dataSource)
  return new ServerBuilder().register(LibraryService, shelves, {
    getShelf: async ({ name }) => {
      const { shelf: id } = shelfName.parse(name)
      // The hole: TypeORM's own repository does not filter by tenant.
      return shelves.model.toMessage(await dataSource.getRepository(Shelf).findOneByOrFail({ id }))
    },
    mergeShelves: async ({ name, otherShelf }) => {
      const { shelf } = shelfName.parse(name)
      return shelves.model.toMessage(
        await shelves.merge(shelf, shelfName.parse(otherShelf, 'other_shelf').shelf),
      )
    },
  })
}
