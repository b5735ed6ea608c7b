import { backends, describeOn, coalesced, partsOn } from '../support/databases/backends.js'
import { changes } from './events/changes.js'
import { own } from './events/own.js'
import { openTold, type ToldSubject } from './events/reported-subject.js'

const SUBJECT = 'the events of changes'

describeOn(SUBJECT, [...backends, ...coalesced], (backend) => {
  const holder = { subject: undefined as never as ToldSubject }
  before(async () => {
    holder.subject = await openTold(backend)
  })
  beforeEach(() => holder.subject.clear())
  after(() => holder.subject?.close())

  for (const part of partsOn(backend, SUBJECT, { changes, own })) part(holder)
})
