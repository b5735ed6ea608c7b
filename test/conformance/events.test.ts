import { backends, describeOn, merged } from '../support/databases/backends.js'
import { changes } from './events/changes.js'
import { own } from './events/own.js'
import { openTold, type ToldSubject } from './events/told-subject.js'

describeOn('the events of changes', [...backends, ...merged], (backend) => {
  const holder = { subject: undefined as never as ToldSubject }
  before(async () => {
    holder.subject = await openTold(backend)
  })
  beforeEach(() => holder.subject.clear())
  after(() => holder.subject?.close())

  changes(holder)
  own(holder)
})
