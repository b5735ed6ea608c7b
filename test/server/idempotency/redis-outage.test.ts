import { expect } from 'chai'
import { createClient } from 'redis'
import { Unavailable } from '../../../lib/errors.js'
import { RedisIdempotencyStore } from '../../../lib/server/idempotency/redis-idempotency-store.js'
import { freePort } from '../../support/free-port.js'
import { ownServer } from '../../support/running/start-services.js'
import { rejection } from '../../support/rejection.js'

const TEXT = 'the response store cannot be reached: retry later'

describe('a Redis that stops', () => {
  it('makes calls with a key Unavailable at once, and not ready, until it is back', async function () {
    const port = await freePort()
    const redis = await ownServer('redis', this, port)
    const client = createClient({ url: redis.url, socket: { reconnectStrategy: () => 20 } })
    client.on('error', () => {})
    await client.connect()
    try {
      const store = new RedisIdempotencyStore(client)
      let at = 0
      const claim = () =>
        store.claim(
          { tenant: 'acme', subject: 'ada', method: '/a.B/C', requestId: `r${++at}` },
          'print',
          1000,
        )
      expect((await claim()).state).to.equal('claimed')
      await store.checkWrites()
      const lost = new Promise((resolve) => client.once('reconnecting', resolve))
      const running = claim().catch((error: unknown) => error)
      await redis.stop()
      await lost
      await running
      for (let call = 0; call < 3; call++) {
        const { cause } = await rejection(claim(), Unavailable, TEXT)
        expect((cause as Error).message).to.equal('the Redis client is not connected')
      }
      await rejection(store.checkWrites(), Unavailable, TEXT)
      const back = new Promise((resolve) => client.once('ready', resolve))
      const again = await ownServer('redis', this, port)
      await back
      expect((await claim()).state).to.equal('claimed')
      await store.checkWrites()
      client.destroy()
      await again.stop()
    } finally {
      if (client.isOpen) client.destroy()
    }
  })

  it('makes them so as well when it does not respond, after one that waits for 2 seconds', async () => {
    const waiting: (() => void)[] = []
    let isSilent = true
    let sent = 0
    const store = new RedisIdempotencyStore({
      eval: () => {
        sent++
        const respond = (resolve: (rows: string[]) => void) => resolve(['claimed'])
        return new Promise((resolve) => (isSilent ? waiting.push(() => respond(resolve)) : respond(resolve)))
      },
    })
    const claim = () =>
      store.claim({ tenant: '', subject: '', method: '', requestId: String(sent) }, 'print', 1000)
    await rejection(claim(), Unavailable, TEXT)
    for (let call = 0; call < 3; call++) await rejection(claim(), Unavailable, TEXT)
    expect(sent).to.equal(1)
    // Readiness asks again.
    await rejection(store.checkWrites(), Unavailable, TEXT)
    expect(sent).to.equal(2)
    isSilent = false
    for (const respond of waiting) respond()
    await store.checkWrites()
    expect((await claim()).state).to.equal('claimed')
  })
})
