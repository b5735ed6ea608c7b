import { expect } from 'chai'
import { openSubject, type OpenSubject } from '../../conformance/repository/open-subject.js'
import { draft, inAcme } from '../../conformance/repository/subject.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { forgedToken } from '../../support/values/forged-token.js'
import { SpecimenService } from '../../support/gen/specimens_pb.js'
import { ALICE, type RunningServer, startServer } from '../../support/servers/server.js'

interface Page {
  readonly ids: readonly string[]
  readonly token: string
}

const LONG = { c: '😀'.repeat(10_000), a: `${'\u0001'.repeat(600)}`, b: '漢'.repeat(512) }

describeOn('page tokens on their way', backends, (backend) => {
  let subject: OpenSubject
  let running: RunningServer
  let client: ForeignClient

  before(async () => {
    subject = await openSubject(backend)
    running = await startServer((builder) =>
      builder.register(SpecimenService, subject.specimens, { weighSpecimen: ({ id }) => ({ id }) }),
    )
    client = new ForeignClient(SpecimenService, running.grpc)
    for (const [id, note] of Object.entries(LONG))
      await inAcme(() => subject.specimens.create(draft({ id, note })))
  })
  after(async () => {
    client?.close()
    await running?.stop()
    await subject?.close()
  })

  const overGrpc = async (token: string): Promise<Page> => {
    const request = { order_by: 'note', page_size: 1, page_token: token }
    const { answer, details } = await client.unary('ListSpecimens', request, ALICE)
    expect(details).to.equal('OK')
    const { specimens, next_page_token: next } = answer as {
      specimens: { id: string }[]
      next_page_token: string
    }
    return { ids: specimens.map(({ id }) => id), token: next }
  }
  const overHttp = async (token: string): Promise<Page> => {
    const query = new URLSearchParams({ order_by: 'note', page_size: '1', page_token: token }).toString()
    const response = await fetch(`${running.http}/v1/specimens?${query}`, { headers: ALICE })
    expect(response.status).to.equal(200)
    const { specimens, nextPageToken } = (await response.json()) as {
      specimens: { id: string }[]
      nextPageToken: string
    }
    return { ids: specimens.map(({ id }) => id), token: nextPageToken }
  }

  for (const [what, pages] of [
    ['gRPC', [overGrpc, overGrpc, overGrpc]],
    ['HTTP', [overHttp, overHttp, overHttp]],
    ['one listener and then the other', [overHttp, overGrpc, overHttp]],
  ] as const)
    it(`carry long text over ${what}`, async () => {
      const seen: string[] = []
      let token = ''
      for (const page of pages) {
        const { ids, token: next } = await page(token)
        seen.push(...ids)
        token = next
      }
      expect(seen).to.deep.equal(['a', 'b', 'c'])
      expect(token).to.equal('')
    })

  it('that are forged are InvalidArgument over both', async () => {
    for (const values of [
      [{ n: 'x' }, 'a'],
      [{}, 'a'],
      [null, null],
      ['\0', 'a'],
      [['a'], 'a'],
    ]) {
      const token = forgedToken(values, 'note', 'acme')
      const { code } = await client.unary('ListSpecimens', { order_by: 'note', page_token: token }, ALICE)
      const url = `${running.http}/v1/specimens?order_by=note&page_token=${token}`
      const { status } = await fetch(url, { headers: ALICE })
      expect({ code, status }, JSON.stringify(values)).to.deep.equal({ code: 3, status: 400 })
    }
  })
})
