import { setTimeout as pause } from 'node:timers/promises'
import { DataSource } from 'typeorm'
import { Counter } from '../../events/outbox-subject.js'
import { LedgerWriter } from '../events/ledger.js'

/**
 * Writes counters until its parent disconnects, and tells it how many changes were committed so far.
 * Arguments: the engine, its URL, and how many write at the same time.
 */
const [engine, url = '', count = '1'] = process.argv.slice(2)

const dataSource = new DataSource({ type: engine as 'postgres', url, entities: [Counter], poolSize: 10 })
await dataSource.initialize()
const writers = Array.from({ length: Number(count) }, () => new LedgerWriter(dataSource))
const over = new AbortController()
process.once('disconnect', () => over.abort())
const writing = Promise.all(writers.map((one) => one.write(() => over.signal.aborted)))
while (!over.signal.aborted) {
  process.send?.(
    writers.reduce((sum, one) => sum + one.written, 0),
    () => {},
  )
  await pause(50)
}
await writing
await dataSource.destroy()
