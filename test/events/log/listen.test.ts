import { expect } from 'chai'
import { setTimeout as pause } from 'node:timers/promises'
import { listenFor } from '../../../lib/events/log/listen.js'
import { CHANNEL, WakeUp } from '../../../lib/persistence/outbox/sql/wake-up.js'
import { ConnectionKiller } from '../../support/databases/connection-killer.js'
import { backends, describeOn, pooled } from '../../support/databases/backends.js'
import { column, run } from '../../support/databases/statement.js'
import { openOutbox } from '../outbox-subject.js'
import { until } from '../until.js'

const LISTENING = `SELECT pid FROM pg_stat_activity WHERE query = 'LISTEN ${CHANNEL}' AND datname = current_database()`

describeOn(
  'LISTEN',
  backends.filter(({ name }) => name === 'postgres'),
  (backend) => {
    it('hears of what another process commits, and again when its connection was lost', async () => {
      const { database, dataSource, close } = await openOutbox(backend)
      const failures: string[] = []
      let heard = 0
      const end = WakeUp.of(database).listen(() => heard++)
      const { url } = dataSource.options as { readonly url: string }
      const listener = listenFor(database, url, ({ message }) => failures.push(message))
      listener.start()
      try {
        await until(() => heard > 0)
        await pause(2200)
        expect(failures).to.deep.equal([])
        heard = 0
        // As another process does.
        await run(database, `SELECT pg_notify('${CHANNEL}', '')`)
        await until(() => heard > 0)
        const [pid = ''] = await column(database, LISTENING)
        await new ConnectionKiller(dataSource).kill(pid)
        await until(async () => {
          heard = 0
          await run(database, `SELECT pg_notify('${CHANNEL}', '')`)
          await pause(50)
          return heard > 0
        })
      } finally {
        end()
        await listener.close()
        expect(await column(database, LISTENING)).to.deep.equal([])
        await close()
      }
    })
  },
)

describeOn('LISTEN', pooled, (backend) => {
  it('says that nothing is heard behind a pooler of transactions', async () => {
    const { database, dataSource, close } = await openOutbox(backend)
    const failures: string[] = []
    const { url } = dataSource.options as { readonly url: string }
    const listener = listenFor(database, url, ({ message }) => failures.push(message))
    listener.start()
    try {
      await until(() => failures.length > 0)
      expect(failures).to.deep.equal(['events: nothing is heard by LISTEN, and the outbox is polled'])
    } finally {
      await listener.close()
      await close()
    }
  })
})
