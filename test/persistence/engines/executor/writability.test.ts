import { expect } from 'chai'
import { DeadlineExceeded, Unavailable } from '../../../../lib/errors.js'
import type { CallEnd } from '../../../../lib/call-end.js'
import { cancellation } from '../../../../lib/persistence/engines/errors/cancellation.js'
import { onDatabaseDoubt } from '../../../../lib/persistence/engines/executor/database-doubts.js'
import type { Lease, RunOptions } from '../../../../lib/persistence/engines/executor/executor.js'
import { Writability } from '../../../../lib/persistence/engines/executor/writability.js'
import { rejection } from '../../../support/rejection.js'

/** A pool of which no connection comes free. */
const busy = ({ signal }: RunOptions): Promise<Lease> =>
  new Promise((_, reject) =>
    signal?.addEventListener('abort', () => reject(cancellation(signal)), { once: true }),
  )

const lease = { release: () => {} } as unknown as Lease
const WRITABLE = { isReadOnly: () => Promise.resolve(false) }
const ended: CallEnd = AbortSignal.abort(new DeadlineExceeded())

describe('whether a database responds', () => {
  it('is not asked before a call has failed', async () => {
    let asked = 0
    const writes = new Writability(() => Promise.resolve(lease), {
      isReadOnly: () => Promise.resolve(asked++ > 0),
    })
    writes.responded()
    await writes.check()
    expect(asked).to.equal(0)
    writes.late(ended)
    await writes.check()
    await writes.check()
    expect(asked).to.equal(1)
  })

  it('is true where no connection comes free for the question, and calls get results', async () => {
    const writes = new Writability(busy, WRITABLE, 20)
    writes.late(ended)
    await rejection(writes.check(), DeadlineExceeded)
    const asking = writes.check()
    writes.responded()
    await asking
    await writes.check()
  })

  it('is not enough where a write was refused', async () => {
    const writes = new Writability(busy, WRITABLE, 20)
    writes.refused()
    const asking = writes.check()
    writes.responded()
    await rejection(asking, DeadlineExceeded)
    const refusing = new Writability(() => Promise.resolve(lease), {
      isReadOnly: () => Promise.resolve(true),
    })
    refusing.refused()
    await rejection(refusing.check(), Unavailable)
  })

  it('is told to be in doubt once, until it has responded', async () => {
    let doubts = 0
    const end = onDatabaseDoubt(() => doubts++)
    const writes = new Writability(() => Promise.resolve(lease), WRITABLE)
    try {
      for (let call = 0; call < 3; call++) writes.unreachable()
      writes.late(ended)
      expect(doubts).to.equal(1)
      await writes.check()
      writes.late(ended)
      expect(doubts).to.equal(2)
    } finally {
      end()
    }
    await writes.check()
    writes.unreachable()
    expect(doubts).to.equal(2)
  })
})
