import { createClient } from 'redis'
import { serviceUrl } from '../running/services.js'
import { leftOut } from '../running/summary.js'

const clientOf = (url: string) => createClient({ url })

/** `describe` with a client of the Redis of this run; without one it is left out and says so. */
export function describeOnRedis(title: string, tests: (client: ReturnType<typeof clientOf>) => void): void {
  describe(title, () => {
    const url = serviceUrl('redis')
    if (url === undefined) {
      leftOut(title, 'no Redis')
      it('has no server to talk to', function () {
        this.skip()
      })
      return
    }
    const client = clientOf(url)
    before(async () => {
      await client.connect()
    })
    after(() => client.close())
    tests(client)
  })
}
