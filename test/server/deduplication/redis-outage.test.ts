import { expect } from 'chai'
import { createClient } from 'redis'
import { Unavailable } from '../../../lib/errors.js'
import { RedisDeduplicationStore } from '../../../lib/server/deduplication/redis-deduplication-store.js'
import { freePort } from '../../support/free-port.js'
import { ownServer } from '../../support/running/start-services.js'
import { rejection } from '../../support/rejection.js'

const TEXT = 'the store of responses cannot be reached: retry later'

describe('a Redis that stops', () => {
  it('makes calls with a key Unavailable at once, and not ready, until it is back', async function () {
    const port = await freePort()
    const redis = await ownServer('redis', this, port)
    const client = createClient({ url: redis.url, socket: { reconnectStrategy: () => 20 } })
    client.on('error', () => {})
    await client.connect()
    try {
      const store = new RedisDeduplicationStore(client)
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
        expect((cause as Error).message).to.equal('the client of Redis is not connected')
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

  it('tells apart what passes from what will come again', async () => {
    const failing = (message: string) =>
      new RedisDeduplicationStore({ eval: () => Promise.reject(new Error(message)) }).claim(
        { tenant: '', subject: '', method: '', requestId: '' },
        '',
        1000,
      )
    for (const message of [
      'Socket closed unexpectedly',
      'LOADING Redis is loading',
      'MISCONF disk',
      'OOM command',
    ])
      await rejection(failing(message), Unavailable, TEXT)
    await rejection(failing('WRONGTYPE Operation against a key'), Error, 'WRONGTYPE Operation against a key')
  })
})
