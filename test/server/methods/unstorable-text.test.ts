import { expect } from 'chai'
import { CODES, type Code, HTTP_STATUS } from '../../../lib/errors.js'
import { openSubject, type OpenSubject } from '../../conformance/repository/open-subject.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { SpecimenService } from '../../support/gen/specimens_pb.js'
import { ALICE, post, type RunningServer, startServer } from '../../support/servers/server.js'

type Request = Readonly<Record<string, unknown>>

/** What a client sends with a NUL in it, over gRPC and over HTTP, and what both are told. */
const CALLS: readonly (readonly [method: string, request: Request, url: string, init: object, code: Code])[] =
  [
    ['GetSpecimen', { id: 'a\0' }, '/v1/specimens/a%00', {}, 'NOT_FOUND'],
    ['DeleteSpecimen', { id: '\0' }, '/v1/specimens/%00', { method: 'DELETE' }, 'NOT_FOUND'],
    ['UndeleteSpecimen', { id: 'a\0' }, '/v1/specimens/a%00:undelete', post({}), 'NOT_FOUND'],
    [
      'UpdateSpecimen',
      { specimen: { id: 'a\0', title: 'x' }, update_mask: { paths: ['title'] } },
      '/v1/specimens/a%00?update_mask=title',
      post({}, { title: 'x' }, 'PATCH'),
      'NOT_FOUND',
    ],
    [
      'CreateSpecimen',
      { specimen: { title: 'x' }, specimen_id: 'a\0' },
      '/v1/specimens?specimen_id=a%00',
      post({}, { title: 'x' }),
      'INVALID_ARGUMENT',
    ],
    [
      'CreateSpecimen',
      { specimen: { title: 'x\0' } },
      '/v1/specimens',
      post({}, { title: 'x\0' }),
      'INVALID_ARGUMENT',
    ],
    ['BatchGetSpecimens', { ids: ['a\0'] }, '/v1/specimens:batchGet?ids=a%00', {}, 'NOT_FOUND'],
    [
      'BatchDeleteSpecimens',
      { ids: ['a', 'a\0'] },
      '/v1/specimens:batchDelete',
      post({}, { ids: ['a', 'a\0'] }),
      'NOT_FOUND',
    ],
    ['ListSpecimens', { q: 'a\0b' }, '/v1/specimens?q=a%00b', {}, 'INVALID_ARGUMENT'],
    ['ListSpecimens', { q: '\0' }, '/v1/specimens?q=%00', {}, 'INVALID_ARGUMENT'],
    [
      'ListSpecimens',
      { filter: 'title = "\0"' },
      '/v1/specimens?filter=title%3D%22%00%22',
      {},
      'INVALID_ARGUMENT',
    ],
    [
      'ListSpecimens',
      { filter: 'tags."\\u0000":"x"' },
      '/v1/specimens?filter=tags.%22%5Cu0000%22%3A%22x%22',
      {},
      'INVALID_ARGUMENT',
    ],
    ['ListSpecimens', { order_by: 'title\0' }, '/v1/specimens?order_by=title%00', {}, 'INVALID_ARGUMENT'],
    ['ListSpecimens', { page_token: 'MQ==\0' }, '/v1/specimens?page_token=MQ==%00', {}, 'INVALID_ARGUMENT'],
  ]

describeOn('text that no column can hold', backends, (backend) => {
  let subject: OpenSubject
  let running: RunningServer
  let client: ForeignClient
  let tenant = 'acme'

  before(async () => {
    subject = await openSubject(backend)
    running = await startServer(
      (builder) =>
        builder.register(SpecimenService, subject.specimens, { weighSpecimen: ({ id }) => ({ id }) }),
      { principalFunc: () => ({ tenant, subject: 'alice', groups: [], scopes: [] }) },
    )
    client = new ForeignClient(SpecimenService, running.grpc)
    await client.unary('CreateSpecimen', { specimen: { title: 'x', code: 'x' }, specimen_id: 'a' }, ALICE)
  })
  after(async () => {
    client?.close()
    await running?.stop()
    await subject?.close()
  })
  afterEach(() => {
    tenant = 'acme'
    expect(running.records.filter(({ level }) => level === 'error')).to.deep.equal([])
  })

  /** The code and status of one call, over gRPC and over HTTP. */
  const outcomes = async (method: string, request: Request, url: string, init: object) => {
    const { code } = await client.unary(method, request, ALICE)
    const { status } = await fetch(`${running.http}${url}`, init)
    return { code, status }
  }
  const expected = (code: Code) => ({ code: CODES[code], status: HTTP_STATUS[code] })

  for (const [method, request, url, init, code] of CALLS)
    it(`is ${code} in ${method} ${JSON.stringify(request)}`, async () => {
      expect(await outcomes(method, request, url, init)).to.deep.equal(expected(code))
    })

  for (const odd of ['\0', 'acme\0', 'ac\0me', 'acme\ud800'])
    it(`is PERMISSION_DENIED as the tenant ${JSON.stringify(odd)} of a principal`, async () => {
      tenant = odd
      for (const [method, request, url, init] of CALLS.slice(0, 8).map(
        ([name, ask, path, how]) => [name, cleaned(ask), path.replaceAll('%00', 'b'), how] as const,
      ))
        expect(await outcomes(method, request, url, init), method).to.deep.equal(
          expected('PERMISSION_DENIED'),
        )
    })
})

/** The same request without what no column can hold. */
const cleaned = (request: Request): Request =>
  JSON.parse(JSON.stringify(request).replaceAll('\\u0000', 'b')) as Request
