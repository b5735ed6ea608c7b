import { expect } from 'chai'
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TokenSource, type VaultTransitOptions } from '../../../lib/secrets/vault/transit-options.js'
import { newVaultTransit, type VaultTransit } from '../../../lib/secrets/vault-transit.js'
import { until } from '../../support/until.js'
import { TransitServer } from '../../support/servers/transit-server.js'
import { INDEX_KEY, PLAINTEXT, rejects } from '../transit-rejections.js'

const LONG = { ttl: 3600, renewable: false }

describe('the token of newVaultTransit', () => {
  let server: TransitServer
  const opened: VaultTransit[] = []
  const transitOf = (token: TokenSource, options: VaultTransitOptions = {}) => {
    const transit = newVaultTransit(server.addr, token, 'secrets', { indexKey: INDEX_KEY, ...options })
    opened.push(transit)
    return transit
  }
  const sentTokens = () => server.requests.map(({ headers }) => headers['x-vault-token'])
  const authPaths = () => server.authRequests.map(({ method, url }) => `${method} ${url}`)

  beforeEach(async () => (server = await TransitServer.start('secrets')))
  afterEach(async () => {
    for (const transit of opened.splice(0)) await transit.close()
    await server.close()
  })

  it('is asked of a function once, however many calls need it', async () => {
    let asked = 0
    const transit = transitOf(async () => (asked++, server.token))
    await Promise.all(Array.from({ length: 10 }, () => transit.encrypt('x')))
    await transit.encrypt('y')
    expect(asked).to.equal(1)
  })

  it('is replaced by the function after a refusal, and the call made once more', async () => {
    const tokens = ['hvs.refused', 'hvs.fresh']
    server.tokens.set('hvs.fresh', LONG)
    let asked = 0
    const transit = transitOf(() => tokens[asked++] ?? 'hvs.none')
    expect(await transit.decrypt(await transit.encrypt(PLAINTEXT))).to.equal(PLAINTEXT)
    expect(sentTokens()).to.deep.equal(['hvs.refused', 'hvs.fresh', 'hvs.fresh'])
    server.tokens.delete('hvs.fresh')
    // A rejected token is replaced at most once in ten seconds.
    expect((await rejects(transit.encrypt('x'))).statusCode).to.equal(403)
    expect(asked).to.equal(2)
  })

  it('is asked for anew where the function failed', async () => {
    const answers = [() => Promise.reject(new Error(`login with ${PLAINTEXT} failed`)), () => server.token]
    const transit = transitOf(() => (answers.shift() ?? (() => ''))())
    const error = await rejects(transit.encrypt('x'))
    expect([error.code, error.statusCode]).to.deep.equal(['UNAVAILABLE', undefined])
    expect(await transit.encrypt('x')).to.match(/^vault:v1:/)
  })

  it('is asked for again after a function that never settles, whose signal aborts', async () => {
    const signals: AbortSignal[] = []
    const login = ({ signal }: { readonly signal: AbortSignal }) => {
      signals.push(signal)
      return signals.length === 1 ? new Promise<string>(() => {}) : server.token
    }
    const transit = transitOf(login, { timeoutMs: 100 })
    const error = await rejects(transit.encrypt('x'))
    expect([error.code, error.reason]).to.deep.equal(['UNAVAILABLE', 'timeout'])
    expect(await transit.encrypt('x')).to.match(/^vault:v1:/)
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([true, false])
  })

  it('is not the late result of a function that was abandoned', async () => {
    let settle = (_: string): void => {}
    const results = [new Promise<string>((resolve) => (settle = resolve)), Promise.resolve(server.token)]
    const transit = transitOf(() => results.shift() ?? 'hvs.none', { timeoutMs: 100 })
    await rejects(transit.encrypt('x'))
    await transit.encrypt('x')
    settle('hvs.late')
    await transit.encrypt('x')
    expect(sentTokens()).to.deep.equal([server.token, server.token])
  })

  for (const canLookUp of [true, false])
    it(`is not replaced for calls that a policy rejects${canLookUp ? '' : ', and lookup-self too'}`, async () => {
      let logins = 0
      const warnings: string[] = []
      const transit = transitOf(
        () => {
          server.tokens.set(`hvs.${++logins}`, LONG)
          return `hvs.${logins}`
        },
        { warn: (text) => void warnings.push(text) },
      )
      await transit.encrypt('x')
      server.misbehaviour = (_, response) => void response.writeHead(403).end('{"errors":["denied"]}')
      server.deniesLookups = !canLookUp
      const lookups = () => authPaths().filter((path) => path.endsWith('lookup-self')).length
      const before = lookups()
      for (let i = 0; i < 30; i++)
        expect((await rejects(transit.decrypt('vault:v1:AAAA'))).statusCode).to.equal(403)
      expect(logins).to.equal(canLookUp ? 1 : 2)
      // One check, and for a new token the question how long it lives.
      expect(lookups() - before).to.be.at.most(2)
      expect(warnings.filter((text) => text.includes('decrypt'))).to.have.length(1)
    })

  it('is reported when the server rejects its renewal, and it is no longer renewed', async () => {
    const warnings: string[] = []
    server.tokens.set('hvs.short', { ttl: 0.06, renewable: true })
    const transit = transitOf('hvs.short', { warn: (text) => void warnings.push(text) })
    await transit.encrypt('x')
    server.tokens.delete('hvs.short')
    await until(() => warnings.length > 0)
    expect(warnings).to.have.length(1)
    expect(warnings[0]).to.match(/could not be renewed \(the server returned 403\).*it is no longer renewed/)
  })

  it('is reported before it ends, if nothing renews it', async () => {
    const warnings: string[] = []
    server.tokens.set('hvs.short', { ttl: 0.05, renewable: false })
    await transitOf('hvs.short', { warn: (text) => void warnings.push(text) }).encrypt('x')
    await until(() => warnings.length > 0)
    expect(warnings[0]).to.match(/the token expires in .* and cannot be renewed/)
  })

  it('is one that a header can carry', async () => {
    for (const token of ['', 'a b', 'a\r\nX: 1', undefined as unknown as string])
      expect((await rejects(transitOf(() => token).encrypt('x'))).message).to.include('the token function')
  })

  it('is left to an agent where it is empty', async () => {
    server.misbehaviour = (_, response) => void response.end('{"data":{"ciphertext":"vault:v1:AAAA"}}')
    expect(await transitOf('').encrypt('x')).to.equal('vault:v1:AAAA')
    const [request] = server.requests
    expect(request?.headers).to.not.have.property('x-vault-token')
    expect(request?.headers['x-vault-request']).to.equal('true')
    expect(server.authRequests).to.deep.equal([])
  })

  it('is followed in a file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ashlar-token-'))
    const tokenFile = join(folder, 'token')
    const write = (token: string) => {
      writeFileSync(`${tokenFile}.new`, `${token}\n`)
      renameSync(`${tokenFile}.new`, tokenFile)
    }
    try {
      write('hvs.one')
      server.tokens.set('hvs.one', LONG).set('hvs.two', LONG)
      const transit = transitOf('', { tokenFile })
      await transit.encrypt('x')
      write('hvs.two')
      await until(async () => {
        await transit.encrypt('x')
        return sentTokens().at(-1) === 'hvs.two'
      })
      write('hvs.three')
      server.tokens.clear()
      server.tokens.set('hvs.three', LONG)
      await transit.encrypt('x')
      expect(sentTokens().at(-1)).to.equal('hvs.three')
      const missing = transitOf('', { tokenFile: join(folder, 'none') })
      expect((await rejects(missing.encrypt('x'))).message).to.match(/the token file .*ENOENT/)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('is followed in a folder that is created and replaced later', async () => {
    const base = mkdtempSync(join(tmpdir(), 'ashlar-token-'))
    const [folder, path] = [join(base, 'run'), join(base, 'run', 'token')]
    for (const name of ['hvs.one', 'hvs.two']) server.tokens.set(name, LONG)
    const transit = transitOf('', { tokenFile: path })
    try {
      await rejects(transit.encrypt('x'))
      mkdirSync(folder)
      writeFileSync(path, 'hvs.one')
      await transit.encrypt('x')
      renameSync(folder, join(base, 'former'))
      mkdirSync(folder)
      writeFileSync(path, 'hvs.two')
      await until(async () => {
        await transit.encrypt('x')
        return sentTokens().at(-1) === 'hvs.two'
      })
    } finally {
      rmSync(base, { recursive: true })
    }
  })

  it('is renewed at two thirds of its life, again and again', async () => {
    server.tokens.set('hvs.short', { ttl: 0.03, renewable: true })
    await transitOf('hvs.short').encrypt('x')
    await until(() => authPaths().filter((path) => path === 'POST /v1/auth/token/renew-self').length >= 3)
    expect(authPaths()[0]).to.equal('GET /v1/auth/token/lookup-self')
  })

  it('is asked of the function again before one ends that cannot be renewed', async () => {
    server.tokens.set('hvs.short', { ttl: 0.03, renewable: false }).set('hvs.next', LONG)
    const tokens = ['hvs.short', 'hvs.next']
    const transit = transitOf(() => tokens.shift() ?? 'hvs.none')
    await transit.encrypt('x')
    await until(() => tokens.length === 0)
    await transit.encrypt('x')
    expect(sentTokens().at(-1)).to.equal('hvs.next')
  })

  it('is in no error, whichever it was', async () => {
    server.tokens.set('hvs.fresh', LONG)
    const tokens = ['hvs.first', 'hvs.fresh']
    const transit = transitOf(() => tokens.shift() ?? 'hvs.none')
    await transit.encrypt('x')
    server.misbehaviour = (_, response) => void response.writeHead(400).end('hvs.first and hvs.fresh')
    expect((await rejects(transit.encrypt(PLAINTEXT))).body).to.equal('[redacted] and [redacted]')
  })
})

describe('a server of newVaultTransit that cannot respond for the moment', () => {
  let server: TransitServer
  let transit: VaultTransit
  beforeEach(async () => {
    server = await TransitServer.start('secrets')
    transit = newVaultTransit(server.addr, server.token, 'secrets', { indexKey: INDEX_KEY })
  })
  afterEach(async () => {
    await transit.close()
    await server.close()
  })
  const failOnce = (status: number, headers = {}) => {
    server.misbehaviour = (_, response) => {
      server.misbehaviour = undefined
      response.writeHead(status, headers).end('{"errors":["not now"]}')
    }
  }

  for (const status of [412, 429, 473, 503])
    it(`is asked once more after ${status}, and is unavailable after a second one`, async () => {
      failOnce(status, { 'retry-after': '0' })
      expect(await transit.encrypt('x')).to.match(/^vault:v1:/)
      server.misbehaviour = (_, response) => void response.writeHead(status).end()
      const error = await rejects(transit.encrypt('x'))
      expect([error.code, error.statusCode]).to.deep.equal(['UNAVAILABLE', status])
      expect(server.requests).to.have.length(4)
    })

  it('is not asked again when it says to come after the deadline', async () => {
    failOnce(503, { 'retry-after': '3600' })
    expect((await rejects(transit.encrypt('x'))).statusCode).to.equal(503)
    expect(server.requests).to.have.length(1)
  })

  it('is not asked again while it is sealed', async () => {
    server.isSealed = true
    expect((await rejects(transit.encrypt('x'))).code).to.equal('UNAVAILABLE')
    expect(server.requests).to.have.length(1)
  })

  it('says what to do about a derived key', async () => {
    server.derive('secrets')
    expect((await rejects(transit.encrypt('x'))).message).to.include('created without "derived"')
  })

  it('is asked again where it closed the connection that was kept', async () => {
    await transit.encrypt('x')
    server.dropKept()
    expect(await transit.encrypt('y')).to.match(/^vault:v1:/)
  })
})
