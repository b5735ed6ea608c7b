import { expect } from 'chai'
import { SqlIdempotencyStore } from '../../../lib/server/idempotency/sql-idempotency-store.js'
import { type OpenSubject, openSubject } from '../../conformance/repository/open-subject.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import { ForeignClient, type Outcome } from '../../support/grpc/clients.js'
import { EchoService, SpecimenService } from '../../support/gen/specimens_pb.js'
import { ALICE, post, type RunningServer, startServer } from '../../support/servers/server.js'
import { echoService } from '../../support/grpc/echo.js'

const OTHER = { ...ALICE, 'account-id': 'other' }
const BOB = { ...ALICE, subject: 'bob' }

describeOn('idempotency keys', backends, (backend) => {
  let subject: OpenSubject
  let running: RunningServer
  let specimens: ForeignClient
  let echo: ForeignClient

  before(async () => {
    subject = await openSubject(backend)
    const { dataSource } = subject
    if (dataSource !== undefined) await applyBaseline(dataSource)
    running = await startServer(
      (builder) =>
        builder
          .register(SpecimenService, subject.specimens, { weighSpecimen: ({ id }) => ({ id }) })
          .register(EchoService, echoService),
      dataSource === undefined ? {} : { idempotencyStore: new SqlIdempotencyStore(dataSource) },
    )
    specimens = new ForeignClient(SpecimenService, running.grpc)
    echo = new ForeignClient(EchoService, running.grpc)
  })
  after(async () => {
    specimens?.close()
    echo?.close()
    await running?.stop()
    await subject?.close()
  })

  let code = 0
  const specimen = () => ({ title: 'granite', code: `c${++code}` })
  const idOf = ({ answer }: Outcome): string => String(answer?.['id'])
  const replayed = ({ headers }: Outcome): boolean => headers.get('x-idempotent-replay').length > 0

  it('are those of a tenant and a subject: the same of others make resources of their own', async () => {
    const titled = specimen()
    const create = (headers: object, fields: object = titled) =>
      specimens.unary('CreateSpecimen', { specimen: fields, request_id: 'shared' }, { ...headers })
    const mine = await create(ALICE)
    const theirs = await create(OTHER)
    const bobs = await create(BOB, specimen())
    expect([mine, theirs, bobs].map((each) => [each.code, replayed(each)])).to.deep.equal(
      [0, 0, 0].map((ok) => [ok, false]),
    )
    expect(new Set([mine, theirs, bobs].map(idOf)).size).to.equal(3)
    expect((await specimens.unary('GetSpecimen', { id: idOf(mine) }, OTHER)).code).to.equal(5)
    const again = await create(OTHER)
    expect([idOf(again), replayed(again)]).to.deep.equal([idOf(theirs), true])
    expect(again.answer).to.include({ account_id: 'other' })
  })

  it('are one key in the body and in the header, and refused where those differ', async () => {
    const request = { specimen: specimen(), request_id: 'both' }
    const create = (key: string) =>
      specimens.unary('CreateSpecimen', request, { ...ALICE, 'idempotency-key': key })
    const differs = await create('other-one')
    expect([differs.code, differs.details]).to.deep.equal([
      3,
      'request_id: differs from Idempotency-Key: send one of them, or the same in both',
    ])
    const first = await create('both')
    const again = await specimens.unary('CreateSpecimen', request, ALICE)
    expect([first.code, idOf(again), replayed(again)]).to.deep.equal([0, idOf(first), true])
    const url = `${running.http}/v1/specimens?request_id=both`
    const over = (key: string) => fetch(url, post({ ...ALICE, 'idempotency-key': key }, request.specimen))
    expect((await over('other-one')).status).to.equal(400)
    const replay = await over('both')
    expect([replay.status, replay.headers.get('x-idempotent-replay')]).to.deep.equal([200, 'true'])
    expect(((await replay.json()) as { id: string }).id).to.equal(idOf(first))
  })

  const shapes: readonly (readonly [string, string, number])[] = [
    ['255 characters', 'x'.repeat(255), 0],
    ['256 characters', 'x'.repeat(256), 3],
    ['255 characters of four bytes', '𝄞'.repeat(255), 0],
    ['256 characters of four bytes', '𝄞'.repeat(256), 3],
    ['a NUL', 'a\0b', 3],
    ['a NUL alone', '\0', 3],
    ['a line break', 'a\nb', 3],
    ['spaces at its end', 'a  ', 0],
    ['the same without the spaces', 'a', 0],
    ['the same in capitals', 'A', 0],
  ]
  for (const [what, key, expected] of shapes)
    it(`return ${expected} for ${what}, and ${expected === 0 ? 'are known again' : 'nothing is made'}`, async () => {
      const request = { specimen: specimen(), request_id: key }
      const first = await specimens.unary('CreateSpecimen', request, ALICE)
      expect(first.code, first.details).to.equal(expected)
      expect(replayed(first)).to.equal(false)
      if (expected === 0) {
        const again = await specimens.unary('CreateSpecimen', request, ALICE)
        expect([idOf(again), replayed(again)]).to.deep.equal([idOf(first), true])
        return
      }
      expect(first.details).to.match(/^request_id: must be 1 to 255 characters/)
      const { answer } = await specimens.unary(
        'ListSpecimens',
        { filter: `code = "${request.specimen.code}"` },
        ALICE,
      )
      expect(answer?.['specimens']).to.deep.equal([])
    })

  it('are free again after an etag that did not match, and outlive the etag of their own success', async () => {
    const { answer } = await specimens.unary('CreateSpecimen', { specimen: specimen() }, ALICE)
    const { id, etag } = answer as { id: string; etag: string }
    const update = (ifMatch: string) =>
      specimens.unary(
        'UpdateSpecimen',
        { specimen: { id, title: 'basalt' }, update_mask: { paths: ['title'] } },
        { ...ALICE, 'idempotency-key': `etag-${id}`, 'if-match': ifMatch },
      )
    expect((await update('"stale"')).code).to.equal(9)
    expect((await update('"stale"')).code).to.equal(9)
    const done = await update(`"${etag}"`)
    expect([done.code, replayed(done)]).to.deep.equal([0, false])
    expect(done.answer?.['etag']).not.to.equal(etag)
    const again = await update(`"${etag}"`)
    expect([again.code, replayed(again)]).to.deep.equal([0, true])
    expect(again.answer?.['etag']).to.equal(done.answer?.['etag'])
    expect(again.trailers.get('etag')).to.deep.equal(done.trailers.get('etag'))
    const changed = await update('"stale"')
    expect([changed.code, changed.details]).to.deep.equal([
      3,
      'request_id: was used for a different request before: send another request_id or Idempotency-Key',
    ])
  })

  it('are known again of a subject whose name is longer than any column', async () => {
    for (const subject of ['x'.repeat(255), 'x'.repeat(256), 'é'.repeat(3000)]) {
      const headers = { ...ALICE, subject: encodeURIComponent(subject).slice(0, 4000) }
      const request = { specimen: specimen(), request_id: 'long' }
      const first = await specimens.unary('CreateSpecimen', request, headers)
      expect([first.code, first.details]).to.deep.equal([0, 'OK'])
      const again = await specimens.unary('CreateSpecimen', request, headers)
      expect([idOf(again), replayed(again)]).to.deep.equal([idOf(first), true])
    }
  })

  it('mean nothing to a stream of responses, which runs each time', async () => {
    const headers = { ...ALICE, 'idempotency-key': 'stream' }
    for (const upto of [3, 4]) {
      const count = await echo.stream('Count', [{ upto }], headers)
      expect([count.code, replayed(count)]).to.deep.equal([0, false])
    }
  })

  it('are rejected by a method whose client streams', async () => {
    for (const method of ['Chat', 'Collect'])
      for (const headers of [ALICE, { ...ALICE, 'idempotency-key': 'stream' }]) {
        const { code, details } = await echo.stream(method, [{ text: 'one' }], headers)
        expect([code, details]).to.deep.equal(
          headers === ALICE
            ? [0, 'OK']
            : [
                3,
                `idempotency-key: ${method} does not support idempotency keys: call it without Idempotency-Key`,
              ],
        )
      }
  })
})
