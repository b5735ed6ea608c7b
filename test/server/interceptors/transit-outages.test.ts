import { expect } from 'chai'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { newVaultTransit, type VaultTransit } from '../../../lib/secrets/vault-transit.js'
import { freePort } from '../../support/free-port.js'
import { echoService } from '../../support/grpc/echo.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { EchoService } from '../../support/gen/specimens_pb.js'
import { authority } from '../../support/servers/certificates.js'
import { ALICE, type RunningServer, startServer } from '../../support/servers/server.js'
import { type Misbehaviour, TransitServer } from '../../support/servers/transit-server.js'
import { INDEX_KEY, PLAINTEXT } from '../../secrets/transit-rejections.js'

const CALLS = 5

describe('a call that a transit server fails', () => {
  let transit: TransitServer
  let running: RunningServer
  let client: ForeignClient
  let encryptor: VaultTransit

  before(async () => {
    transit = await TransitServer.start('secrets')
    const ask = async () => {
      await encryptor.encrypt(PLAINTEXT)
      return {}
    }
    const collect = async () => {
      await encryptor.decrypt('vault:v1:AAAA')
      return {}
    }
    running = await startServer((builder) =>
      builder.register(EchoService, { ...echoService, echo: ask as never, collect: collect as never }),
    )
    client = new ForeignClient(EchoService, running.grpc)
  })

  after(async () => {
    client.close()
    await running.stop()
    await transit.close()
  })

  beforeEach(() => {
    Object.assign(transit, { misbehaviour: undefined, isSealed: false, quota: undefined })
    running.records.length = 0
  })

  const respond =
    (status: number, body: string): Misbehaviour =>
    (_, response) =>
      void response.writeHead(status, { 'retry-after': '60' }).end(body)
  let count = 0
  const causes: readonly (readonly [
    name: string,
    addr: () => string | Promise<string>,
    misbehaviour: Misbehaviour | undefined,
    said: RegExp,
  ])[] = [
    ['is sealed', () => transit.addr, respond(503, '{"errors":["Vault is sealed"]}'), /503.*sealed/],
    ['refuses connections', async () => `http://127.0.0.1:${await freePort()}`, undefined, /ECONNREFUSED/],
    ['has no address', () => 'http://vault.invalid', undefined, /ENOTFOUND|EAI_AGAIN/],
    ['does not respond', () => transit.addr, () => undefined, /no response within 100 ms/],
    ['limits its callers', () => transit.addr, respond(429, '{"errors":["rate limit"]}'), /429/],
    [
      'is behind a proxy that cannot reach it',
      () => transit.addr,
      (_, response) => void response.writeHead(502).end(`<h1>Bad Gateway</h1> ray ${count++}`),
      /502.*Bad Gateway/,
    ],
  ]

  const failed = async (addr: string, timeoutMs = 10_000): Promise<void> => {
    encryptor = newVaultTransit(addr, transit.token, 'secrets', { indexKey: INDEX_KEY, timeoutMs })
    for (let call = 0; call < CALLS; call++) {
      const outcome = await client.unary('Echo', {}, ALICE)
      expect([outcome.code, outcome.details]).to.deep.equal([14, 'temporarily unavailable'])
    }
    // Another operation fails by the same cause.
    expect((await client.stream('Collect', [{}], ALICE)).code).to.equal(14)
    await encryptor.close()
  }

  const toldOnce = (said: RegExp): void => {
    const told = running.records.filter(({ message }) => message !== 'rpc')
    expect(told.map(({ level }) => level)).to.deep.equal(['error'])
    const [record] = told
    expect(record?.message).to.match(/^unavailable: transit: encrypt/)
    expect(record?.fields).to.include.keys('requestId', 'method')
    expect((record?.fields['err'] as Error).message).to.match(said)
    const everything = JSON.stringify(running.records)
    const spelled = [
      PLAINTEXT,
      JSON.stringify(PLAINTEXT).slice(1, -1),
      Buffer.from(PLAINTEXT).toString('base64'),
    ]
    for (const secret of [transit.token, ...spelled]) expect(everything).not.to.contain(secret)
  }

  for (const [name, addr, misbehaviour, said] of causes)
    it(`has one record with the cause when the server ${name}`, async () => {
      transit.misbehaviour = misbehaviour
      await failed(await addr(), name === 'does not respond' ? 100 : undefined)
      toldOnce(said)
    })

  it('has one record with the cause when the authority of the certificate is unknown', async () => {
    const { certificate, key } = authority('unknown').issue('localhost')
    const server = createServer({ cert: certificate, key }, (_, response) => response.end())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      await failed(`https://127.0.0.1:${(server.address() as AddressInfo).port}`)
      toldOnce(/UNABLE_TO_VERIFY|SELF_SIGNED/)
    } finally {
      server.close()
    }
  })
})
