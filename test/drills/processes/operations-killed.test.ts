import { expect } from 'chai'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { DataSource } from 'typeorm'
import { Operations } from 'ashlar-annotations/google/longrunning/operations_pb.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import { ForeignClient, type Outcome } from '../../support/grpc/clients.js'
import { drill, drilling } from '../../support/drill.js'
import { ALICE } from '../../support/servers/server.js'
import { serviceUrl } from '../../support/running/services.js'
import { leftOut } from '../../support/running/summary.js'
import { type TestDatabase, testDatabase } from '../../support/databases/test-database.js'
import { SlowEcho } from '../../support/grpc/slow-echo.js'

const OTHER = { ...ALICE, 'account-id': 'other' }
const NOWHERE = `operations/${'0'.repeat(32)}`
const FINAL_CODE = { CANCELLED: 1, UNAVAILABLE: 14 }

interface Host {
  readonly process: ChildProcess
  readonly echo: ForeignClient
  readonly operations: ForeignClient
}

interface Seen {
  readonly name: string
  readonly done: boolean
  readonly error?: { readonly code: number; readonly message: string } | null
}

async function startHost(type: string, url: string): Promise<Host> {
  const script = fileURLToPath(new URL('../hosts/operations.js', import.meta.url))
  const child = fork(script, [type, url])
  const [{ address }] = (await once(child, 'message')) as [{ address: string }]
  return {
    process: child,
    echo: new ForeignClient(SlowEcho, address),
    operations: new ForeignClient(Operations, address),
  }
}

const start = async ({ echo }: Host, text = ''): Promise<string> => {
  const { answer, details } = await echo.unary('Echo', { text }, ALICE)
  expect(answer, details).to.include({ done: false })
  return (answer as unknown as Seen).name
}

const seen = ({ answer, code, details }: Outcome): Seen => {
  expect(code, details).to.equal(0)
  return answer as unknown as Seen
}

/** What a caller can tell an outcome by. */
const facts = ({ code, details, answer, trailers }: Outcome) => ({
  code,
  details,
  answer,
  status: trailers.get('grpc-status-details-bin').map(String),
})

for (const [server, type] of [
  ['postgres', 'postgres'],
  ['mysql', 'mariadb'],
] as const)
  describe(`operations of several processes, kept in ${type}`, function () {
    if (serviceUrl(server) === undefined) {
      leftOut(`operations of several processes, kept in ${type}`, `no ${server}`)
      it('has no server to talk to', function () {
        this.skip()
      })
      return
    }
    let database: TestDatabase
    let hosts: Host[] = []
    let worker: Host
    let other: Host

    before(async () => {
      database = await testDatabase(server)
      const dataSource = await new DataSource({ type, url: database.url, entities: [] }).initialize()
      await applyBaseline(dataSource)
      await dataSource.destroy()
      hosts = await Promise.all([startHost(type, database.url), startHost(type, database.url)])
      ;[worker, other] = hosts as [Host, Host]
    })

    after(async () => {
      for (const { process, echo, operations } of hosts) {
        echo.close()
        operations.close()
        process.kill('SIGKILL')
      }
      await database?.drop()
    })

    const wait = async (host: Host, name: string, seconds = 25) =>
      seen(await host.operations.unary('WaitOperation', { name, timeout: { seconds } }, ALICE))

    it('are seen, waited for and listed from any process', async () => {
      const name = await start(worker, 'end')
      expect((await wait(other, name)).error ?? null).to.equal(null)
      const { answer } = await other.operations.unary('ListOperations', {}, ALICE)
      expect((answer?.['operations'] as Seen[]).map((one) => one.name)).to.include(name)
    })

    it('stop where they run when another process is asked to cancel them', async () => {
      const names = await Promise.all(Array.from({ length: drill(3, 50) }, () => start(worker)))
      const cancelled = new Set<string>()
      const allCancelled = new Promise<void>((resolve) =>
        worker.process.on('message', ({ cancelled: name }: { cancelled?: string }) => {
          if (name !== undefined) cancelled.add(name)
          if (names.every((each) => cancelled.has(each))) resolve()
        }),
      )
      for (const name of names)
        expect((await other.operations.unary('CancelOperation', { name }, ALICE)).code).to.equal(0)
      await allCancelled
      for (const name of names)
        expect((await wait(other, name)).error).to.include({ code: FINAL_CODE.CANCELLED })
    })

    it('are for another tenant what never was, from any process', async () => {
      const name = await start(worker)
      for (const host of hosts)
        for (const method of ['GetOperation', 'CancelOperation', 'DeleteOperation', 'WaitOperation']) {
          const theirs = facts(await host.operations.unary(method, { name }, OTHER))
          const nobodys = facts(await host.operations.unary(method, { name: NOWHERE }, OTHER))
          expect(theirs, method).to.deep.equal(nobodys)
          expect(theirs.code).to.equal(5)
        }
      const { answer } = await other.operations.unary('ListOperations', {}, OTHER)
      expect(answer?.['operations']).to.deep.equal([])
      expect(seen(await other.operations.unary('GetOperation', { name }, ALICE)).done).to.equal(false)
      await other.operations.unary('CancelOperation', { name }, ALICE)
    })

    it('are waited for no longer than asked, whoever works on them', async () => {
      const name = await start(worker)
      const wanted = { name, timeout: { nanos: 30_000_000 } }
      expect(seen(await other.operations.unary('WaitOperation', wanted, ALICE)).done).to.equal(false)
      // The caller's own deadline bounds it as well, and leaves time for an answer.
      const bounded = await other.operations.unary('WaitOperation', { name }, ALICE, {
        deadline: Date.now() + 4_000,
      })
      expect(seen(bounded).done).to.equal(false)
      await other.operations.unary('CancelOperation', { name }, ALICE)
    })

    // The lease of the dead process has to lapse: fifteen seconds, which `npm test` spends once.
    const lapses = server === 'postgres' || drilling ? it : it.skip
    lapses('end as failed within their lease when their process is killed', async () => {
      const names = await Promise.all(Array.from({ length: drill(2, 20) }, () => start(worker)))
      worker.process.kill('SIGKILL')
      await once(worker.process, 'exit')
      const [first = ''] = names
      expect(seen(await other.operations.unary('GetOperation', { name: first }, ALICE)).done).to.equal(false)
      const ends = await Promise.all(names.map((name) => wait(other, name)))
      for (const { done, error } of ends) {
        expect(done).to.equal(true)
        expect(error).to.include({
          code: FINAL_CODE.UNAVAILABLE,
          message: 'the process that ran it no longer exists: start it again',
        })
      }
      expect((await other.operations.unary('GetOperation', { name: first }, OTHER)).code).to.equal(5)
      expect((await other.operations.unary('DeleteOperation', { name: first }, ALICE)).code).to.equal(0)
    })
  })
