import { expect } from 'chai'
import { memoryRepositoryOf } from '../../../lib/persistence/repository-of.js'
import { CredentialMinter } from '../../../lib/secrets/credential-minter.js'
import { apiKey } from '../../../lib/server/authn/api-key.js'
import { draft, encryptor, inAcme } from '../../conformance/repository/subject.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { EchoService } from '../../support/gen/specimens_pb.js'
import { post, type RunningServer, startServer } from '../../support/servers/server.js'
import { Specimen } from '../../support/entities/specimen.js'
import { echoService } from '../../support/grpc/echo.js'

describe('API keys that are hashed slowly', () => {
  const minter = new CredentialMinter({ spec: { algo: 'pbkdf2-sha256:200000:32' } })
  const specimens = new (memoryRepositoryOf(Specimen))({ minter, encryptor })
  let running: RunningServer
  let client: ForeignClient
  let key = ''

  before(async () => {
    key = (await inAcme(() => specimens.create(draft()))).apiKey ?? ''
    running = await startServer((builder) => builder.register(EchoService, echoService), {
      authenticator: apiKey({
        verify: (token) => specimens.verifyApiKey(token),
        principal: ({ id, accountId }) => ({ subject: id, tenant: accountId }),
      }),
      principalFunc: undefined as never,
    })
    client = new ForeignClient(EchoService, running.grpc)
  })
  after(async () => {
    client.close()
    await running.stop()
  })

  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  const madeUp = (n: number) => bearer(`ib_${String(n).padStart(22, '0')}_${'x'.repeat(43)}`)

  it('let at most 8 callers with made-up keys wait, return Unavailable to others, and let real ones go on', async () => {
    const strangers = Array.from({ length: 40 }, (_, n) => client.unary('Echo', {}, madeUp(n)))
    const stranger = fetch(`${running.http}/v1/echo`, post(madeUp(99)))
    const friends = Array.from({ length: 12 }, () => client.unary('Echo', {}, bearer(key)))
    const codes = (await Promise.all(strangers)).map(({ code }) => code)
    expect((await Promise.all(friends)).map(({ code }) => code)).to.deep.equal(friends.map(() => 0))
    expect(codes.every((code) => code === 16 || code === 14)).to.equal(true)
    // Two at work and eight that wait, and a few whose turn came while the others arrived.
    expect(codes.filter((code) => code === 16).length).to.be.within(1, 20)
    expect(codes.filter((code) => code === 14).length).to.be.at.least(20)
    expect([401, 503]).to.include((await stranger).status)
    const { code } = await client.unary('Echo', {}, madeUp(100))
    expect(code).to.equal(16)
  })
})
