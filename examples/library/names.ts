import { resourceName } from '../../lib/persistence/index.js'
import { BookSchema, ShelfSchema } from './gen/library_pb.js'

export const shelfName = resourceName(ShelfSchema, 'shelves/{shelf}')
export const bookName = resourceName(BookSchema, 'shelves/{shelf}/books/{book}')
