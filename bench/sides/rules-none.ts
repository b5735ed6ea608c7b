import { serveThings } from './rules-server.js'

/** The server with ten fields without rules. */
await serveThings(0)
