import { expect } from 'chai'
import { type Client, createClient, grpcTransport, type ClientTransport } from '../../../lib/client/index.js'
import { AshlarError } from '../../../lib/errors.js'
import { type ListSpecimensRequest, SpecimenService } from '../../support/gen/specimens_pb.js'
import { rejection } from '../../support/rejection.js'
import { ALICE, partly, type RunningServer, startServer } from '../../support/servers/server.js'

describe('lists of a client', () => {
  let running: RunningServer
  let transport: ClientTransport
  let specimens: Client<typeof SpecimenService>
  let tokenAfter: (token: string) => string
  const requests: ListSpecimensRequest[] = []
  before(async () => {
    const listSpecimens = (request: ListSpecimensRequest) => {
      requests.push(request)
      const page = Number(request.pageToken || '0')
      const ids = page === 2 ? [] : [`${page}a`, `${page}b`]
      return { specimens: ids.map((id) => ({ id })), nextPageToken: tokenAfter(request.pageToken) }
    }
    running = await startServer((builder) =>
      builder.register(SpecimenService, partly(SpecimenService, { listSpecimens })),
    )
    transport = grpcTransport(running.grpc)
    specimens = createClient(SpecimenService, { transport, metadata: ALICE })
  })
  beforeEach(() => {
    requests.splice(0)
    tokenAfter = (token) => (Number(token || '0') === 4 ? '' : String(Number(token || '0') + 1))
  })
  after(async () => {
    transport.close()
    await running.stop()
  })
  const idsOf = async (list: AsyncIterable<{ readonly id: string }>, most = 10_000): Promise<string[]> => {
    const ids: string[] = []
    for await (const { id } of list) if (ids.push(id) === most) break
    return ids
  }

  it('are a page where they are awaited', async () => {
    const { specimens: page, nextPageToken } = await specimens.listSpecimens({ pageSize: 2 })
    expect(page.map(({ id }) => id)).to.deep.equal(['0a', '0b'])
    expect(nextPageToken).to.equal('1')
    expect(requests).to.have.length(1)
  })

  it('are all items where they are iterated, over pages without any', async () => {
    const list = specimens.listSpecimens({ pageSize: 2, filter: 'a = 1' })
    expect(await idsOf(list)).to.deep.equal(['0a', '0b', '1a', '1b', '3a', '3b', '4a', '4b'])
    expect(requests.map(({ pageToken, filter }) => [pageToken, filter])).to.deep.equal(
      ['', '1', '2', '3', '4'].map((token) => [token, 'a = 1']),
    )
  })

  it('ask for no page that nobody reads', async () => {
    expect(await idsOf(specimens.listSpecimens({}), 2)).to.deep.equal(['0a', '0b'])
    expect(requests).to.have.length(1)
    void specimens.listSpecimens({})
    await new Promise(setImmediate)
    expect(requests).to.have.length(1)
  })

  it('begin where their request says, and are pages, too', async () => {
    const sizes: number[] = []
    for await (const { specimens: page } of specimens.listSpecimens({ pageToken: '2' }).pages())
      sizes.push(page.length)
    expect(sizes).to.deep.equal([0, 2, 2])
  })

  it('keep to the request that they were made of', async () => {
    const request = { filter: 'a = 1' }
    const list = specimens.listSpecimens(request)
    request.filter = 'b = 2'
    await idsOf(list)
    expect(new Set(requests.map(({ filter }) => filter))).to.deep.equal(new Set(['a = 1']))
  })

  for (const length of [1, 2, 3, 7, 50])
    it(`end where page tokens come again after ${length}`, async () => {
      tokenAfter = (token) => String((Number(token || '0') % length) + 1)
      const error = await rejection(
        idsOf(specimens.listSpecimens({})),
        AshlarError,
        'the same page token twice',
      )
      expect(error).to.include({ code: 'INTERNAL' })
      expect(requests.length).to.be.below(4 * length + 4)
    })

  it('tell how they fail, awaited and iterated', async () => {
    tokenAfter = () => {
      throw new AshlarError('NOT_FOUND', 'no such shelf')
    }
    await rejection(specimens.listSpecimens({}), AshlarError, 'no such shelf')
    await rejection(idsOf(specimens.listSpecimens({})), AshlarError, 'no such shelf')
    expect(await specimens.listSpecimens({}).catch(({ code }: AshlarError) => code)).to.equal('NOT_FOUND')
  })
})
