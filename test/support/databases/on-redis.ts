import { createClient } from 'redis'
import { serviceUrl } from '../running/services.js'
import { leftOut } from '../running/summary.js'

const clientOf = (url: string) => createClient({ url })

/** Describes a suite with a client of the run's Redis. Without Redis, it is skipped with a note. */
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
