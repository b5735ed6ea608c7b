import { serveThings } from './rules-server.js'

/** The server: ten fields without rules. */
await serveThings(0)
