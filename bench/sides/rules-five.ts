import { serveThings } from './rules-server.js'

/** The server with five required fields of ten. */
await serveThings(5)
