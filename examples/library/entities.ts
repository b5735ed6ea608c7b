export { Book } from './book.js'
export { Shelf } from './shelf.js'
