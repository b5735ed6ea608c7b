import { drilling } from '../../support/drill.js'
import { ownServer, type StartedService } from '../../support/running/start-services.js'
import { TcpProxy } from '../../support/running/tcp-proxy.js'
import { ENGINES, ServedWrites, SOURCES } from './served-writes.js'

/** Longer than a connection is waited for. */
const LASTS_MS = 12_000

for (const engine of ENGINES)
  for (const source of SOURCES)
    describe(`writes through a ${source} on ${engine.engine}`, () => {
      let server: StartedService
      let proxy: TcpProxy
      let served: ServedWrites

      before(async function () {
        if (!drilling) return this.skip()
        server = await ownServer(engine.service, this)
        proxy = await TcpProxy.before(server.url, engine.port)
        served = await ServedWrites.start(engine, source, proxy.url, server.url)
      })
      after(async () => {
        await served?.end()
        await proxy?.close()
        await server?.stop()
      })

      it('are noticed to fail behind a black hole, come back, and none is lost', () =>
        served.traffic.through(
          { begin: async () => proxy.silence(), end: async () => proxy.open() },
          LASTS_MS,
        ))

      it('come back where the network has forgotten its connections', () =>
        served.traffic.through(
          { begin: async () => proxy.silence(), end: async () => proxy.open({ forgetting: true }) },
          LASTS_MS,
        ))

      it('are noticed to fail where the server is frozen, come back, and none is lost', () =>
        served.traffic.through(
          { begin: async () => server.freeze(), end: async () => server.thaw() },
          LASTS_MS,
        ))

      it('are noticed to fail where the server is killed, come back, and none is lost', () =>
        served.traffic.through({ begin: () => server.kill(), end: () => server.restart() }, LASTS_MS / 4))
    })
