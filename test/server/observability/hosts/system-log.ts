import { RequestContext } from '../../../../lib/context.js'
import { MemoryRepository } from '../../../../lib/persistence/memory/memory-repository.js'
import { Note } from '../../../support/entities/specimen.js'

/** A job: a process without a server. */
const notes = new MemoryRepository(Note)
await RequestContext.as({ subject: 'cron' }, () =>
  RequestContext.asSystem({ reason: 'nightly' }, () => notes.list()),
)
