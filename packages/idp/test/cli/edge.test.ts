import { expect } from 'chai'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { call } from '../support/own-edge.js'
import { freePort, start } from '../support/program.js'

describe('ashlar-idp edge and up', () => {
  let folder: string
  let env: Record<string, string>
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'up-'))
    env = { HOME: folder, DEVEDGE_HOME: join(folder, 'home'), DEVEDGE_ADDR: `127.0.0.1:${await freePort()}` }
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const begin = (...args: readonly string[]) => start(args, { cwd: folder, env })
  const put = (route: object) =>
    call(
      { socketPath: join(folder, 'home', 'devedged.sock'), method: 'PUT', path: '/v1/routes' },
      JSON.stringify(route),
    )
  const authority = () => readFileSync(join(folder, 'home', 'ashlar-edge', 'ca.pem'), 'utf8')

  /** A page as a program gets it that trusts the authority of the edge. */
  const overHttps = (host: string, port: number, path: string) =>
    new Promise<{ status: number; body: string }>((resolve, reject) => {
      const headers = { host: port === 443 ? host : `${host}:${port}` }
      const sent = request(
        { host: '127.0.0.1', port, path, servername: host, ca: authority(), headers, agent: false },
        (response) => {
          let body = ''
          response.setEncoding('utf8').on('data', (part: string) => (body += part))
          response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
        },
      )
      sent.on('error', reject)
      sent.end()
    })

  it('up runs the provider and an edge, which serves it over https', async () => {
    const up = begin('up', '--port', '0')
    const [, issuer = ''] = await up.printed(/Launchpad and issuer: (\S+)\n/)
    const [, port = '443'] = await up.printed(/The edge serves it at https:\/\/idp\.dev\.test(?::(\d+))?\/ /)
    const document = await overHttps('idp.dev.test', Number(port), '/.well-known/openid-configuration')
    expect(JSON.parse(document.body)).to.have.property('issuer', issuer)
    const status = await begin('edge', 'status').ended
    expect(status.stdout).to.equal(
      [
        `HOST          PATH  UPSTREAM${' '.repeat(issuer.length - 8)}  PROJECT  OWNER   TTL`,
        `idp.dev.test  -     ${issuer}  idp      de-idp  -`,
        '',
      ].join('\n'),
    )
    expect((await up.stop()).exit).to.equal(0)
    expect((await begin('edge', 'status').ended).exit).to.equal(3)
  })

  it('up uses the edge that runs, and ends with 4 where another process has its host', async () => {
    const edge = begin('edge', '--port', '0')
    await edge.printed(/The edge serves https:\/\/<host>:\d+\/ for every route/)
    const up = begin('up', '--port', '0')
    await up.printed(/The edge that runs already serves the launchpad at idp\.dev\.test/)
    await up.stop()
    await put({ host: 'mine.dev.test', upstream: 'http://127.0.0.1:1', owner: 'me' })
    const { exit, stderr } = await begin('up', '--port', '0', '--host', 'mine.dev.test').ended
    expect(stderr).to.include('is owned by "me"')
    expect(exit).to.equal(4)
    expect((await edge.stop()).exit).to.equal(0)
  })

  it('status shows routes as a table in which nothing controls the terminal', async () => {
    const edge = begin('edge', '--port', '0')
    await edge.printed(/The edge serves/)
    expect((await begin('edge', 'status').ended).stdout).to.equal('There are no routes.\n')
    await put({ host: 'a.test', path: '/\u001b[2J\u202e', upstream: 'http://127.0.0.1:1\n', ttl: '90s' })
    expect((await begin('edge', 'status').ended).stdout).to.equal(
      'HOST    PATH    UPSTREAM             PROJECT  OWNER  TTL\na.test  /?[2J?  http://127.0.0.1:1?  -        -      90s\n',
    )
    await edge.stop()
  })

  it('trust says what to do for browsers, curl and Node, and changes no store', async () => {
    const { stdout, exit } = await begin('edge', 'trust').ended
    const path = join(folder, 'home', 'ashlar-edge', 'ca.pem')
    expect(exit).to.equal(0)
    for (const line of [
      `certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n ashlar-edge -i ${path}`,
      `security add-trusted-cert -r trustRoot -k ~/Library/Keychains/login.keychain-db ${path}`,
      `certutil -user -addstore Root ${path}`,
      `curl --cacert ${path} `,
      `export NODE_EXTRA_CA_CERTS=${path}`,
      '*.localhost',
    ])
      expect(stdout).to.include(line)
    expect(readdirSync(folder)).to.deep.equal(['home'])
    for (const name of readdirSync(join(folder, 'home', 'ashlar-edge')))
      expect(statSync(join(folder, 'home', 'ashlar-edge', name)).mode & 0o777, name).to.equal(0o600)
    const pem = authority()
    await begin('edge', 'trust').ended
    expect(authority()).to.equal(pem)
  })

  it('a port that cannot be had says so', async () => {
    const edge = begin('edge', '--port', '0')
    const [, port = ''] = await edge.printed(/<host>:(\d+)/)
    const other = start(['edge', '--port', port], {
      cwd: folder,
      env: { ...env, DEVEDGE_HOME: join(folder, 'other') },
    })
    const { exit, stderr } = await other.ended
    expect(stderr).to.include(`port ${port} is not available`)
    expect(exit).to.equal(2)
    await edge.stop()
  })
})
