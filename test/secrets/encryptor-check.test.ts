import { expect } from 'chai'
import { newDev } from '../../lib/secrets/dev-encryptor.js'
import type { Encryptor } from '../../lib/secrets/encryptor.js'
import { encryptorCheck, reusingCheck } from '../../lib/secrets/encryptor-check.js'
import { newVaultTransit, type VaultTransit } from '../../lib/secrets/vault-transit.js'
import { SecretUnreadable } from '../../lib/errors.js'
import { echoService } from '../support/grpc/echo.js'
import { EchoService } from '../support/gen/specimens_pb.js'
import { rejection } from '../support/rejection.js'
import { type RunningServer, startServer } from '../support/servers/server.js'
import { TransitServer } from '../support/servers/transit-server.js'
import { INDEX_KEY, rejects } from './transit-rejections.js'

describe('encryptorCheck', () => {
  let server: TransitServer
  let transit: VaultTransit
  let running: RunningServer
  before(async () => {
    server = await TransitServer.start('secrets')
    transit = newVaultTransit(server.addr, server.token, 'secrets', { indexKey: INDEX_KEY })
    running = await startServer((builder) => builder.register(EchoService, echoService), {
      readinessChecks: [reusingCheck(transit, () => now)],
    })
  })
  after(async () => {
    await running?.stop()
    await transit?.close()
    await server?.close()
  })
  let now = 0
  const ready = async () => {
    now += 10_000
    const response = await fetch(`${running.http}/readyz`)
    return [response.status, await response.text()] as const
  }

  it('encrypts and decrypts, and a server is ready while that works', async () => {
    server.requests.length = 0
    expect((await ready())[0]).to.equal(200)
    expect(server.requests.map(({ url }) => url)).to.deep.equal([
      '/v1/transit/encrypt/secrets',
      '/v1/transit/decrypt/secrets',
    ])
    server.isSealed = true
    const [status, body] = await ready()
    server.isSealed = false
    expect(status).to.equal(503)
    expect(body).to.contain('encryptor').and.not.to.contain('sealed')
    expect(JSON.stringify(running.records)).to.contain('encryptor').and.not.to.contain(server.token)
    expect((await ready())[0]).to.equal(200)
  })

  it('of a transit fails where decrypting is not allowed', async () => {
    server.misbehaviour = ({ url }, response) =>
      response.writeHead(url.includes('decrypt') ? 403 : 200).end('{"data":{"ciphertext":"vault:v1:AAAA"}}')
    const error = await rejects(transit.check())
    server.misbehaviour = undefined
    expect(error.statusCode).to.equal(403)
  })

  it('reuses a success for five seconds and a failure for one', async () => {
    let [calls, isDown, at] = [0, false, 0]
    const check = () => {
      calls++
      return isDown ? Promise.reject(new Error('down')) : Promise.resolve()
    }
    const { signal } = new AbortController()
    const checked = reusingCheck({ ...newDev(Buffer.alloc(32, 7)), check }, () => at)
    const ask = () =>
      checked.check(signal).then(
        () => 'up',
        () => 'down',
      )
    expect(await Promise.all([ask(), ask()])).to.deep.equal(['up', 'up'])
    expect(calls).to.equal(1)
    isDown = true
    at = 4_999
    expect([await ask(), calls]).to.deep.equal(['up', 1])
    at = 5_000
    expect([await ask(), calls]).to.deep.equal(['down', 2])
    isDown = false
    at = 5_999
    expect([await ask(), calls]).to.deep.equal(['down', 2])
    at = 6_000
    expect([await ask(), calls]).to.deep.equal(['up', 3])
  })

  it('works with an encryptor without a check of its own', async () => {
    const { encrypt, decrypt, hash } = newDev(Buffer.alloc(32, 7))
    const { signal } = new AbortController()
    const own: Encryptor = { encrypt, decrypt, hash }
    await encryptorCheck(own).check(signal)
    await encryptorCheck(newDev(Buffer.alloc(32, 7))).check(signal)
    const wrong = encryptorCheck({ ...own, decrypt: () => Promise.resolve('something else') })
    await rejection(wrong.check(signal), SecretUnreadable)
  })
})
