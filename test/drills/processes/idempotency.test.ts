import { expect } from 'chai'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createClient } from 'redis'
import { DataSource } from 'typeorm'
import { WidgetService } from '../../../examples/widgets/gen/widgets_pb.js'
import { Widget } from '../../../examples/widgets/widget.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import { ForeignClient, type Outcome } from '../../support/grpc/clients.js'
import { drill, drilling } from '../../support/drill.js'
import { ALICE } from '../../support/servers/server.js'
import { serviceUrl } from '../../support/running/services.js'
import { leftOut } from '../../support/running/summary.js'
import { testDatabase } from '../../support/databases/test-database.js'

const PROCESSES = drill(2, 4)
const OTHER = { ...ALICE, 'account-id': 'other' }

interface Host {
  readonly process: ChildProcess
  readonly client: ForeignClient
}

for (const kind of ['sql', 'redis'] as const)
  describe(`idempotency across processes, kept in ${kind}`, function () {
    const missing = (['postgres', ...(kind === 'redis' ? (['redis'] as const) : [])] as const).filter(
      (service) => serviceUrl(service) === undefined,
    )
    if (missing.length > 0) {
      leftOut(`idempotency across processes, kept in ${kind}`, `no ${missing.join(', ')}`)
      it('has no server to talk to', function () {
        this.skip()
      })
      return
    }
    let database: Awaited<ReturnType<typeof testDatabase>>
    let dataSource: DataSource
    let hosts: Host[] = []

    before(async () => {
      database = await testDatabase('postgres')
      dataSource = new DataSource({ type: 'postgres', url: database.url, entities: [Widget] })
      await dataSource.initialize()
      await applyBaseline(dataSource)
      await createTables(dataSource, [Widget], 'postgres')
      hosts = await Promise.all(Array.from({ length: PROCESSES }, () => startHost(kind, database.url)))
    })

    after(async () => {
      for (const { client, process } of hosts) {
        client.close()
        process.kill('SIGKILL')
      }
      await dataSource?.destroy()
      await database?.drop()
      if (kind === 'redis') await forgetKeys(serviceUrl('redis') as string)
    })

    const create = (
      host: Host | undefined,
      key: string,
      name: string,
      headers: object = ALICE,
    ): Promise<Outcome> =>
      (host as Host).client.unary(
        'CreateWidget',
        { widget: { display_name: name } },
        { ...headers, 'idempotency-key': key },
      )

    const count = async (name: string): Promise<number> => {
      const rows: { n: string }[] = await dataSource.query(
        'SELECT count(*) AS n FROM widgets WHERE display_name = $1',
        [name],
      )
      return Number(rows[0]?.n)
    }

    it(`runs ${drill(200, 1000)} identical calls once and returns the same to all`, async () => {
      const calls = Array.from({ length: drill(200, 1000) }, (_, n) =>
        create(hosts[n % PROCESSES], `same-${process.pid}`, 'same'),
      )
      const outcomes = await Promise.all(calls)
      const problems = outcomes.filter(({ code }) => code !== 0).map(({ details }) => details)
      expect(problems).to.deep.equal([])
      expect(new Set(outcomes.map(({ answer }) => JSON.stringify(answer))).size).to.equal(1)
      expect(await count('same')).to.equal(1)
    })

    it('lets another tenant with the same id run its own, and refuses another body', async () => {
      const mine = await create(hosts[0], `two-${process.pid}`, 'two')
      const theirs = await create(hosts[1], `two-${process.pid}`, 'two', OTHER)
      expect([mine.code, theirs.code, theirs.answer?.['account_id']]).to.deep.equal([0, 0, 'other'])
      expect(await count('two')).to.equal(2)
      const other = await create(hosts[0], `two-${process.pid}`, 'another')
      expect([other.code, other.details]).to.deep.equal([
        3,
        'request_id: was used for a different request before: send another request_id or Idempotency-Key',
      ])
    })

    // The lease of the dead process has to lapse: ten seconds, which `npm test` spends once.
    const lapses = kind === 'sql' || drilling ? it : it.skip
    lapses('frees the key when the process that has it is killed', async () => {
      const [first, second] = hosts
      const doomed = create(first, `kill-${process.pid}`, 'slow')
      await once((first as Host).process, 'message')
      ;(first as Host).process.kill('SIGKILL')
      expect((await doomed).code).to.equal(14)
      const retried = await create(second, `kill-${process.pid}`, 'slow')
      expect(retried.code, retried.details).to.equal(0)
      expect(await count('slow')).to.equal(1)
    })
  })

async function startHost(kind: 'sql' | 'redis', url: string): Promise<Host> {
  const script = fileURLToPath(new URL('../hosts/idempotency.js', import.meta.url))
  const child = fork(script, [kind, url, serviceUrl('redis') ?? ''])
  const [address] = (await once(child, 'message')) as [string]
  return { process: child, client: new ForeignClient(WidgetService, address) }
}

async function forgetKeys(url: string): Promise<void> {
  const redis = createClient({ url })
  await redis.connect()
  for await (const keys of redis.scanIterator({ MATCH: 'ashlar:idempotency:*' }))
    if (keys.length > 0) await redis.del(keys)
  await redis.close()
}
