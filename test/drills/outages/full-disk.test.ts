import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { Widget } from '../../../examples/widgets/widget.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { SqliteDataSource } from '../../../lib/persistence/sqlite-data-source.js'
import { drilling } from '../../support/drill.js'
import { SmallDisk } from '../../support/running/small-disk.js'
import { ownServer, type StartedService } from '../../support/running/start-services.js'
import { cannotBeHad } from '../../support/running/summary.js'
import { ENGINES, ServedWrites } from './served-writes.js'

const LASTS_MS = 6_000
/** Each write needs further pages: nothing of it can be compressed. */
const LARGE = randomBytes(10_000).toString('base64')

/** @returns a disk that can be full, or undefined where the test is skipped. */
function smallDisk(mib: number, test: { skip(): void }): SmallDisk {
  if (!drilling) test.skip()
  const disk = SmallDisk.of(mib)
  if (disk instanceof SmallDisk) return disk
  cannotBeHad('a disk that can be full', disk)
  return test.skip() as never
}

for (const { engine, settings } of [
  { engine: ENGINES[0], settings: [] },
  { engine: ENGINES[1], settings: ['--innodb-log-file-size=8M'] },
])
  describe(`writes to ${engine.engine} on a disk that is full`, () => {
    let disk: SmallDisk
    let server: StartedService
    let served: ServedWrites

    before(async function () {
      disk = smallDisk(400, this)
      server = await ownServer(engine.service, this, undefined, settings, disk.path)
      served = await ServedWrites.start(engine, 'DataSource', server.url, server.url, LARGE)
    })
    after(async () => {
      await served?.end()
      await server?.stop()
      disk?.remove()
    })

    it('are noticed to fail, come back, and none is lost', () =>
      served.traffic.through(
        {
          begin: async () => disk.fill(),
          end: async () => {
            disk.free()
            if (server.hasEnded) await server.restart()
          },
        },
        LASTS_MS,
      ))
  })

describe('writes to SQLite on a disk that is full', () => {
  let disk: SmallDisk
  let served: ServedWrites

  before(async function () {
    disk = smallDisk(64, this)
    const database = join(disk.path, 'widgets.db')
    const dataSource = await new SqliteDataSource({ database, entities: [Widget] }).initialize()
    await createTables(dataSource, [Widget], 'sqlite')
    served = await ServedWrites.on(dataSource, dataSource, { description: LARGE })
  })
  after(async () => {
    await served?.end()
    disk?.remove()
  })

  it('are noticed to fail at COMMIT, come back, and none is lost', () =>
    served.traffic.through({ begin: async () => disk.fill(), end: async () => disk.free() }, LASTS_MS))
})
