import { serveThings } from './rules-server.js'

/** The server: five required fields of ten. */
await serveThings(5)
