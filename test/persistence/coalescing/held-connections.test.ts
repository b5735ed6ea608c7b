import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import { ConnectionsHeld } from '../../../lib/persistence/engines/executor/connection-waits.js'
import { asTenant } from '../../conformance/repository/subject.js'
import { describeOn, mergers } from '../../support/databases/backends.js'
import { everyCall, ManyReaders } from './many-readers.js'

describeOn('merged reads of callers that hold a connection', mergers, (backend) => {
  let readers: ManyReaders
  before(async () => {
    readers = await ManyReaders.open(backend)
  })
  after(() => readers?.close())

  it('are refused at once where all connections are held in this way', async () => {
    const specimens = await readers.warm()
    const { connections } = readers.database
    let [arrived, go] = [0, () => {}]
    const everybody = new Promise<void>((resolve) => (go = resolve))
    const detached = () =>
      Promise.allSettled(
        everyCall.map((asked) => RequestContext.detached(() => readers.get(specimens, asked))),
      )
    const holding = () =>
      specimens.transaction(async () => {
        await (++arrived === connections ? go() : everybody)
        return detached()
      })
    // One tenant never holds all connections.
    const tenants = Array.from({ length: connections }, (_, at) => (at % 2 === 0 ? 'acme' : 'globex'))
    const outcomes = await Promise.all(tenants.map((tenant) => asTenant(tenant, holding)))
    for (const outcome of outcomes.flat())
      expect(outcome).to.have.property('reason').that.is.instanceOf(ConnectionsHeld)
    expect(await readers.getAll(specimens)).to.have.length(everyCall.length)
  })
})
