import { expect } from 'chai'
import { create } from '@bufbuild/protobuf'
import { EchoResponseSchema } from '../support/gen/specimens_pb.js'
import { json, type Running, startGateway } from './start-gateway.js'

describe('Gateway', () => {
  let running: Running
  before(async () => {
    running = await startGateway()
  })
  after(() => running.stop())
  beforeEach(() => {
    running.dispatcher.before = () => {}
    running.dispatcher.answer = undefined
  })

  it('returns the response of a unary call in proto3 JSON with its zero values', async () => {
    const answer = await running.fetch('/v1/echo?text=hi')
    expect(answer.status).to.equal(200)
    expect(answer.headers.get('content-type')).to.equal('application/json')
    expect(answer.headers.get('x-request-id')).to.equal('minted')
    expect(await answer.json()).to.deep.equal({
      text: 'hi',
      request: {
        text: 'hi',
        number: '0',
        words: [],
        phase: 'PHASE_UNSPECIFIED',
        data: '',
        labels: {},
        flag: false,
        score: 0,
      },
    })
  })

  it('reads a body into the whole request', async () => {
    const answer = await running.fetch(
      '/v1/echo',
      json('POST', { text: 'a', number: '9007199254740993', right: 3 }),
    )
    const { request } = (await answer.json()) as { request: Record<string, unknown> }
    expect(request).to.include({ text: 'a', number: '9007199254740993', right: 3 })
  })

  it('reads a body into one field, the rest from path and query', async () => {
    const answer = await running.fetch('/v1/echo/leafy?text=t', json('PUT', { leaf: 'ignored', size: 4 }))
    const { request } = (await answer.json()) as { request: Record<string, unknown> }
    expect(request.nested).to.deep.equal({ leaf: 'leafy', size: 4 })
    expect(request.text).to.equal('t')
  })

  it('sends one field of the response where the rule says so', async () => {
    const answer = await running.fetch('/v1/rooms/a/books/b/c%2Fd:echo', { method: 'POST' })
    expect(await answer.json()).to.equal('rooms/a/books/b/c%2Fd')
  })

  it('returns 404 in the error shape for an unknown path', async () => {
    const answer = await running.fetch('/v2/nothing')
    expect(answer.status).to.equal(404)
    expect(await answer.json()).to.deep.equal({ code: 5, message: 'no such path', details: [] })
  })

  it('returns 405 and Allow for a wrong method', async () => {
    const answer = await running.fetch('/v1/ping', { method: 'DELETE' })
    expect(answer.status).to.equal(405)
    expect(answer.headers.get('allow')).to.equal('GET, HEAD, OPTIONS')
  })

  it('sends an etag of the trailers as a header and returns 304 to who has it', async () => {
    running.dispatcher.before = ({ incoming }) => void incoming.trailers.set('etag', 'abc')
    const first = await running.fetch('/v1/echo')
    expect(first.headers.get('etag')).to.equal('"abc"')
    const second = await running.fetch('/v1/echo', { headers: { 'if-none-match': 'W/"x", "abc"' } })
    expect(second.status).to.equal(304)
    expect(await second.text()).to.equal('')
  })

  it('sends a response that cannot be written as 500 without a reason', async () => {
    running.dispatcher.answer = () =>
      create(EchoResponseSchema, { request: { at: { seconds: 999_999_999_999n } } })
    const answer = await running.fetch('/v1/echo')
    expect(answer.status).to.equal(500)
    expect(await answer.json()).to.deep.equal({ code: 13, message: 'internal error', details: [] })
  })
})
