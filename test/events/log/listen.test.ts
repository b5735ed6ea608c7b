import { expect } from 'chai'
import { setTimeout as pause } from 'node:timers/promises'
import { listenFor } from '../../../lib/events/log/listen.js'
import { watchStatements } from '../../../lib/persistence/engines/watch-statements.js'
import { CHANNEL, WakeUp } from '../../../lib/persistence/outbox/sql/wake-up.js'
import { ConnectionKiller } from '../../support/databases/connection-killer.js'
import { backends, describeOn, pooled } from '../../support/databases/backends.js'
import { column, run } from '../../support/databases/statement.js'
import { openOutbox } from '../outbox-subject.js'
import { until } from '../../support/until.js'

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

describeOn(
  'NOTIFY',
  backends.filter(({ name }) => name === 'postgres'),
  (backend) => {
    it('is sent at most once in 20 ms, after the commits and outside of their transactions', async () => {
      const { database, dataSource, tell, close } = await openOutbox(backend)
      const sent: string[] = []
      const end = watchStatements(dataSource, ({ text }) => sent.push(text))
      try {
        const begun = performance.now()
        await Promise.all(Array.from({ length: 200 }, (_, at) => tell(`k${at}`)))
        const most = (performance.now() - begun) / 20 + 2
        await pause(200)
        const notified = sent.filter((text) => text.includes('pg_notify'))
        expect(notified.length).to.be.within(2, most)
        // A call alone: its transaction has ended before anybody is told.
        sent.splice(0)
        await tell('last')
        await until(() => sent.some((text) => text.includes('pg_notify')))
        expect(sent.at(-2)?.split(' ')[0]).to.equal('COMMIT')
        expect(await column(database, 'SELECT COUNT(*) FROM outbox')).to.deep.equal(['201'])
      } finally {
        end()
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
      expect(failures).to.deep.equal(['events: LISTEN receives no notifications, so the outbox is polled'])
    } finally {
      await listener.close()
      await close()
    }
  })
})
