import { expect } from 'chai'
import { create, toBinary } from '@bufbuild/protobuf'
import { callService } from '../../support/connect/call-service.js'
import { envelope, wireCall } from '../../support/connect/wire-client.js'
import { CallRequestSchema, CallService } from '../../support/gen/calls_pb.js'
import { ALICE, startServer } from '../../support/servers/server.js'
import { until } from '../../support/until.js'

const { call, follow } = CallService.method
/** @param begun - is called when a method begins. */
const start = (begun = () => {}) => {
  const told: typeof callService = {
    ...callService,
    call: (...given) => {
      begun()
      return callService.call(...given)
    },
    follow: (...given) => {
      begun()
      return callService.follow(...given)
    },
  }
  return startServer((builder) => builder.register(CallService, told), { gateway: { connect: true } })
}

describe('Connect at a shutdown', () => {
  for (const protocol of ['connect', 'grpc-web'] as const) {
    const wire = { protocol, codec: 'proto', compression: 'identity' } as const

    it(`${protocol}: open calls and streams can end, and close their connection`, async () => {
      let begun = 0
      const running = await start(() => begun++)
      const options = { headers: ALICE }
      const unary = wireCall(running.http, wire, call, { delayMs: 800 }, options)
      const stream = wireCall(
        running.http,
        wire,
        follow,
        { delayMs: 200, data: Array.from({ length: 5 }, () => Buffer.of(1)) },
        options,
      )
      await until(() => begun === 2)
      const stopped = running.stop()
      const [one, many] = [await unary, await stream]
      expect([one.code, many.code, many.messages.length]).to.deep.equal(['ok', 'ok', 5])
      expect(one.headers.get('connection')).to.equal('close')
      await stopped
    })

    it(`${protocol}: a stream that does not end is told so, with a status`, async () => {
      const running = await start()
      const data = Array.from({ length: 600 }, () => Buffer.of(1))
      const request = toBinary(CallRequestSchema, create(CallRequestSchema, { delayMs: 100, data }))
      const response = await fetch(`${running.http}/calls.v1.CallService/Follow`, {
        method: 'POST',
        headers: {
          ...ALICE,
          'content-type': protocol === 'connect' ? 'application/connect+proto' : 'application/grpc-web+proto',
        },
        body: new Uint8Array(envelope(0, request)),
      })
      const text = response.text()
      await running.stop()
      expect(await text).to.match(/"code":"unavailable"|grpc-status: 14/)
    })
  }
})
