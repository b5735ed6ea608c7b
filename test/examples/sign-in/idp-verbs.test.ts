import { startEdge, type RunningEdge } from 'ashlar-idp'
import { expect } from 'chai'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '../../support/run-command.js'
import { SILENT_ADDRESS } from '../../support/servers/route-daemon.js'
import { vectors } from '../../support/values/vectors.js'

interface Row {
  readonly request: { readonly method: string; readonly path: string; readonly body?: string }
  readonly response: {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  }
}

describe('the idp commands with the edge of ashlar-idp', () => {
  let folder: string
  let edge: RunningEdge
  let now = Date.now()
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-verbs-'))
    edge = await startEdge({
      ...{ port: 0, warn: () => {}, now: () => now },
      home: { folder, socketPath: join(folder, 'devedged.sock'), host: '127.0.0.1', port: 0 },
    })
  })
  afterEach(async () => {
    await edge.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const idp = (args: readonly string[], home = folder) =>
    runCommand(args, {
      program: 'idp',
      cwd: folder,
      env: { DEVEDGE_HOME: home, DEVEDGE_ADDR: SILENT_ADDRESS },
    })
  const send = (method: string, path: string, body?: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const call = request({ socketPath: edge.socketPath, method, path, agent: false }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0))
      })
      call.on('error', reject)
      call.end(body)
    })

  it('up registers and renews, and a conflict ends with 4', async () => {
    expect((await idp(['up'])).exit).to.equal(0)
    const renewed = await idp(['up', '--port', '9000'])
    expect([renewed.exit, edge.registry.list()[0]?.upstream]).to.deep.equal([0, 'http://127.0.0.1:9000'])
    await send('DELETE', '/v1/routes/idp.dev.test')
    await send(
      'PUT',
      '/v1/routes',
      '{"host":"idp.dev.test","upstream":"http://127.0.0.1:1","owner":"other","ttl":"30s"}',
    )
    const { exit, stderr } = await idp(['up'])
    expect(exit).to.equal(4)
    expect(stderr).to.include('is owned by "other"')
    now += 30_001
    expect((await idp(['up'])).exit).to.equal(0)
  })

  it('sync writes the same bytes as with the answers of the original daemon', async function () {
    const rows = vectors<Row>('edge-daemon')
    if (rows === undefined) return this.skip()
    const lists = rows.filter(({ request: { method, path } }) => method === 'GET' && path === '/v1/routes')
    let compared = 0
    for (const row of rows) {
      await send(row.request.method, row.request.path, row.request.body)
      if (!lists.includes(row) || row.response.body === '[]\n') continue
      const ours = await idp(['clients', 'sync', '--out', 'ours.yaml'])
      const original = await recorded(row)
      const theirs = await idp(['clients', 'sync', '--out', 'theirs.yaml'], original.home)
      await original.close()
      expect([ours.exit, theirs.exit]).to.deep.equal([0, 0])
      expect(readFileSync(join(folder, 'ours.yaml'), 'utf8')).to.equal(
        readFileSync(join(folder, 'theirs.yaml'), 'utf8'),
      )
      compared++
    }
    expect(compared).to.equal(3)
  })

  it('new says what to run, and up does so without a daemon', async () => {
    expect((await idp(['new'])).stdout).to.include('npx ashlar-idp up')
    const { exit, stderr } = await idp(['up'], join(folder, 'nowhere'))
    expect([exit, stderr.includes('npx ashlar-idp edge')]).to.deep.equal([3, true])
  })

  it('names that would be YAML stay names', async () => {
    const project = '*a: &b {c: [!!str'
    await send(
      'PUT',
      '/v1/routes',
      JSON.stringify({
        host: 'y.dev.test',
        upstream: 'http://127.0.0.1:1',
        project,
        tile: { display_name: '- client_id: root' },
      }),
    )
    expect((await idp(['clients', 'sync'])).exit).to.equal(0)
    const text = readFileSync(join(folder, 'idp-clients.yaml'), 'utf8')
    expect(text.match(/^- client_id: .*$/gm)).to.deep.equal([`- client_id: "${project}"`])
  })

  /** A daemon that lists what the original did. */
  async function recorded({ response }: Row): Promise<{ home: string; close: () => Promise<void> }> {
    const home = mkdtempSync(join(tmpdir(), 'ashlar-recorded-'))
    const server: Server = createServer(
      (_, answer) => void answer.writeHead(response.status, response.headers).end(response.body),
    )
    await new Promise<void>((resolve) => void server.listen(join(home, 'devedged.sock'), resolve))
    return {
      home,
      close: async () => {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
        rmSync(home, { recursive: true, force: true })
      },
    }
  }
})
