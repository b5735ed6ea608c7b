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

  it('are refused alike, with a wrong secret and made up, and let real ones go on', async () => {
    const strangers = Array.from({ length: 6 }, (_, n) => client.unary('Echo', {}, madeUp(n)))
    const stranger = fetch(`${running.http}/v1/echo`, post(madeUp(99)))
    const wrong = client.unary('Echo', {}, bearer(`${key.slice(0, -1)}${key.endsWith('x') ? 'y' : 'x'}`))
    const friends = Array.from({ length: 200 }, () => client.unary('Echo', {}, bearer(key)))
    const codes = (await Promise.all([wrong, ...strangers])).map(({ code }) => code)
    expect((await Promise.all(friends)).map(({ code }) => code)).to.deep.equal(friends.map(() => 0))
    expect(codes).to.deep.equal(codes.map(() => 16))
    expect((await stranger).status).to.equal(401)
  })
})
