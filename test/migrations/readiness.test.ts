import { expect } from 'chai'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { widgetsDataSource } from '../../examples/widgets/data-source.js'
import { widgetServer } from '../../examples/widgets/main.js'
import { Widget } from '../../examples/widgets/widget.js'
import { Health } from '../../lib/gen/grpc/health/v1/health_pb.js'
import { type MigrateOptions, migrate, schemaIsCurrent } from '../../lib/migrations/index.js'
import { resolveDsn, tableMigrations } from '../../lib/persistence/index.js'
import { ForeignClient } from '../support/grpc/clients.js'
import { root } from '../support/root.js'
import { runCli } from '../support/run-cli.js'
import { ALICE, post, recordingLogger, type RunningServer, startServer } from '../support/servers/server.js'
import { failureOf, file, onEachEngine, problemOf, tables } from './each-engine.js'

onEachEngine('a server whose schema is older than its code', (database, dialect) => {
  const [widgets] = tableMigrations({ Widget })
  const sql = widgets?.sqlFor(dialect) ?? { up: '', down: '' }
  const files = { ...file('0002_widgets', sql.up, sql.down), ...tables(3) }
  const optionsOf = (options: Partial<MigrateOptions> = {}): MigrateOptions => ({
    url: database().url,
    files,
    ...options,
  })

  /** What the platform sees of the server. */
  async function seen(running: RunningServer): Promise<readonly unknown[]> {
    const client = new ForeignClient(Health, running.grpc)
    const ready = await fetch(`${running.http}/readyz`)
    const health = await client.unary('Check', {})
    client.close()
    return [ready.status, await ready.text(), health.answer?.['status']]
  }
  const told = ({ records }: RunningServer) =>
    records
      .filter(({ fields }) => fields['check'] === 'schema')
      .map(({ level, fields, message }) => [level, message, (fields['err'] as { message?: string })?.message])

  it('is not ready, says which version is missing in its log alone, and is ready once it is there', async () => {
    await migrate(optionsOf({ files: {} })).up()
    const check = schemaIsCurrent(optionsOf())
    const running = await startServer(() => undefined, { readinessChecks: [{ name: 'schema', check }] })
    const notReady = [503, '{"status":"unavailable","failing":["schema"]}', 'NOT_SERVING']
    expect(await seen(running)).to.deep.equal(notReady)
    expect(await seen(running)).to.deep.equal(notReady)
    const missing = (what: string) => [
      'warn',
      'not ready',
      `the schema is older than this server: ${what} missing; run ashlar migrate up`,
    ]
    expect(told(running)).to.deep.equal([missing('0002_widgets, 0003_t3')])

    await migrate(optionsOf({ files: file('0002_widgets', sql.up, sql.down) })).up()
    expect(await seen(running)).to.deep.equal(notReady)
    await migrate(optionsOf()).up()
    expect(await seen(running)).to.deep.equal([200, '{"status":"ok"}', 'SERVING'])
    expect(told(running)).to.deep.equal([
      missing('0002_widgets, 0003_t3'),
      missing('0003_t3'),
      ['info', 'readiness check passes again', undefined],
    ])
    await running.stop()
  })

  it('is not ready while the version that is missing is dirty', async () => {
    const broken = { ...tables(3), ...file('0002_widgets', 'nonsense', '-- nothing') }
    await failureOf(migrate(optionsOf({ files: broken })).up())
    const check = schemaIsCurrent(optionsOf())
    const running = await startServer(() => undefined, { readinessChecks: [{ name: 'schema', check }] })
    expect((await seen(running))[0]).to.equal(503)
    await migrate(optionsOf()).up()
    expect((await seen(running))[0]).to.equal(200)
    await running.stop()
  })

  it('says nothing of the database beside its log, and no password there', async () => {
    const scheme = dialect === 'postgres' ? 'postgres' : 'mysql'
    const check = schemaIsCurrent(optionsOf({ url: `${scheme}://ada:hunter22@127.0.0.1:1/shop` }))
    const running = await startServer(() => undefined, { readinessChecks: [{ name: 'schema', check }] })
    expect(await seen(running)).to.deep.equal([
      503,
      '{"status":"unavailable","failing":["schema"]}',
      'NOT_SERVING',
    ])
    expect(told(running)[0]?.[2]).to.include(' 127.0.0.1:1, ')
    expect(JSON.stringify(running.records)).to.not.include('hunter22')
    await running.stop()
  })

  it('follows a connection string in a file, whose password is rotated while the schema is not current', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ashlar-schema-'))
    const path = join(folder, 'dsn')
    const scheme = dialect === 'postgres' ? 'postgres' : 'mysql'
    try {
      await migrate(optionsOf({ files: {} })).up()
      const url = async () => (await resolveDsn(`fsnotify://${scheme}${path}`)).dsn
      const check = schemaIsCurrent({ ...optionsOf(), url })
      expect((await failureOf(check())).message).to.match(/cannot be read \(ENOENT\)/)
      writeFileSync(path, `${scheme}://ada:hunter22@127.0.0.1:1/shop`)
      expect(problemOf(await failureOf(check()))).to.include({ kind: 'noConnection' })
      writeFileSync(path, database().url)
      expect((await failureOf(check())).message).to.match(/ 0002_widgets, 0003_t3 /)
      await migrate(optionsOf()).up()
      await check()
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('is the example, which serves widgets as soon as the command line has made their table', async () => {
    const migrations = join(root, 'examples', 'widgets', 'migrations')
    const [up, down] = ['up', 'down'].map((direction) =>
      readFileSync(join(migrations, dialect, `0002_widgets.${direction}.sql`), 'utf8'),
    )
    expect({ up, down }).to.deep.equal({ up: sql.up, down: sql.down })
    const dataSource = widgetsDataSource(database().url)
    const server = await widgetServer({
      ...{ database: dataSource, grpcAddr: '127.0.0.1:0', httpAddr: '127.0.0.1:0' },
      logger: recordingLogger(),
    })
    const stop = new AbortController()
    const served = server.serve(stop.signal)
    await server.ready()
    const http = `http://${server.httpAddr()}`
    expect(await (await fetch(`${http}/readyz`)).text()).to.equal(
      '{"status":"unavailable","failing":["schema"]}',
    )
    const env = { ASHLAR_DATABASE_URL: database().url }
    expect((await runCli('ashlar', ['migrate', 'up', '--files', migrations], { env })).exit).to.equal(0)
    expect((await fetch(`${http}/readyz`)).status).to.equal(200)
    const created = await fetch(
      `${http}/v1/widgets`,
      post({ ...ALICE, groups: 'staff' }, { displayName: 'Plumb' }),
    )
    expect([created.status, await created.json()]).to.deep.include(200)
    stop.abort()
    await served
    await dataSource.destroy()
  })

  it('asks the database once for any number of probes at the same time, and not at all once it is ready', async () => {
    await migrate(optionsOf()).up()
    let asked = 0
    const counted = new Proxy(files, {
      ownKeys: (target) => {
        asked++
        return Reflect.ownKeys(target)
      },
    })
    const check = schemaIsCurrent(optionsOf({ files: counted }))
    await Promise.all(Array.from({ length: 20 }, check))
    await check()
    expect(asked).to.be.within(1, 2)
    const before = asked
    await Promise.all(Array.from({ length: 20 }, check))
    expect(asked).to.equal(before)
  })
})
