import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { status } from '@grpc/grpc-js'
import { createChannel, createClient, Metadata } from 'nice-grpc'
import { widgetServer, type WidgetServerOptions } from '../../examples/widgets/main.js'
import { WidgetService } from '../../examples/widgets/gen/widgets_pb.js'
import { grpcTour } from '../../examples/widgets/tour-grpc.js'
import { httpTour } from '../../examples/widgets/tour-http.js'
import { definitionOf } from '../../lib/server/grpc/definition.js'
import type { Server } from '../../lib/server/server.js'
import { ForeignClient } from '../support/grpc/clients.js'
import { compiled } from '../support/root.js'
import { join } from 'node:path'
import { QuietScreen } from './quiet-screen.js'

const OPTIONS: WidgetServerOptions = {
  database: ':memory:',
  grpcAddr: '127.0.0.1:0',
  httpAddr: '127.0.0.1:0',
}
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

describe('the widget service', () => {
  const stop = new AbortController()
  let server: Server
  let served: Promise<void>

  before(async () => {
    server = await widgetServer({ ...OPTIONS, logger: silent })
    served = server.serve(stop.signal)
    await server.ready()
  })
  after(async () => {
    stop.abort()
    await served
  })

  it('is toured by a nice-grpc client', async () => {
    const channel = createChannel(server.grpcAddr())
    const screen = new QuietScreen(false)
    try {
      const as = (tenant: string) => ({
        metadata: Metadata({ 'account-id': tenant, subject: 'ada', groups: 'staff' }),
      })
      await grpcTour(createClient(definitionOf(WidgetService), channel), as, screen)
    } finally {
      channel.close()
    }
    expect(screen.shown).to.have.length(9)
  })

  it('is toured by fetch', async () => {
    const screen = new QuietScreen(false)
    await httpTour(`http://${server.httpAddr()}`, screen)
    expect(screen.shown).to.have.length(6)
  })

  it('is toured by a client that knows only its descriptors', async () => {
    const client = new ForeignClient(WidgetService, server.grpcAddr())
    const who = { 'account-id': 'umbrella', subject: 'eve', groups: 'staff' }
    const ask = async (method: string, request: object, headers = who, code = status.OK) => {
      const outcome = await client.unary(method, request, headers)
      expect(`${method}: ${status[outcome.code]} ${outcome.code === code ? '' : outcome.details}`).to.equal(
        `${method}: ${status[code]} `,
      )
      return (outcome.answer ?? {}) as Record<string, string & Record<string, unknown>[]>
    }
    try {
      for (const [i, id] of ['anvil', 'bolt', 'crank'].entries())
        await ask('CreateWidget', {
          widget_id: id,
          widget: {
            display_name: id.toUpperCase(),
            size: i + 1,
            state: 'ACTIVE', // This loader reads a map of a descriptor as what it is on the wire.
            tags: [{ key: 'env', value: 'prod' }],
          },
        })
      const anvil = await ask('GetWidget', { id: 'anvil' })
      expect(anvil).to.include({ display_name: 'ANVIL', account_id: 'umbrella', state: 'ACTIVE' })
      const list = { filter: 'size >= 2 AND tags.env = "prod"', order_by: 'size desc', page_size: 1 }
      const page = await ask('ListWidgets', list)
      const next = await ask('ListWidgets', { ...list, page_token: page['next_page_token'] })
      expect([page, next].map((answer) => answer['widgets']?.map(({ id }) => id))).to.deep.equal([
        ['crank'],
        ['bolt'],
      ])
      const rename = { widget: { id: 'anvil', display_name: 'New' }, update_mask: ['display_name'] }
      const match = { ...who, 'if-match': anvil['etag'] as string }
      expect(await ask('UpdateWidget', rename, match)).to.include({ display_name: 'New', size: 1 })
      await ask('UpdateWidget', rename, match, status.FAILED_PRECONDITION)
      await ask('DeleteWidget', { id: 'bolt' })
      await ask('GetWidget', { id: 'bolt' }, who, status.NOT_FOUND)
      expect((await ask('ListWidgets', { show_deleted: true }))['widgets']).to.have.length(3)
      await ask('UndeleteWidget', { id: 'bolt' })
      const batch = ['anvil', 'nobody'].map((id) => ({ widget: { id, size: 9 }, update_mask: ['size'] }))
      await ask('BatchUpdateWidgets', { requests: batch }, who, status.NOT_FOUND)
      expect((await ask('GetWidget', { id: 'anvil' }))['size']).to.equal(1)
      await ask('GetWidget', { id: 'anvil' }, { ...who, 'account-id': 'globex' }, status.NOT_FOUND)
      await ask('GetWidget', { id: 'anvil' }, {} as typeof who, status.PERMISSION_DENIED)
    } finally {
      client.close()
    }
  })
})

describe('npm run demo', () => {
  it('walks through everything, stays up, and ends on a signal', async function () {
    const demo = spawn(
      process.execPath,
      [join(compiled, 'examples/demo.js'), '--grpc', '127.0.0.1:0', '--http', '127.0.0.1:0'],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    )
    let printed = ''
    const ended = new Promise<number | null>((resolve) => demo.once('exit', resolve))
    const up = new Promise<void>((resolve) => {
      demo.stdout.on('data', (bytes: Buffer) => {
        printed += bytes.toString()
        if (printed.includes('Ctrl-C')) resolve()
      })
    })
    await Promise.race([up, ended])
    const url = /http:\/\/[\d.:]+/.exec(printed)?.[0] ?? ''
    expect((await fetch(`${url}/readyz`)).status).to.equal(200)
    demo.kill('SIGINT')
    expect(await ended).to.equal(0)
    expect(printed).to.include('a stale If-Match is refused'.replace('a', 'A')).and.include('curl -s')
  })

  const run = (...args: readonly string[]) =>
    new Promise<readonly [number | null, string]>((resolve) => {
      const demo = spawn(process.execPath, [join(compiled, 'examples/demo.js'), ...args])
      let printed = ''
      for (const stream of [demo.stdout, demo.stderr])
        stream.on('data', (bytes: Buffer) => (printed += bytes.toString()))
      demo.once('close', (code) => resolve([code, printed]))
    })

  it('walks through orders where asked for, and ends with --once', async function () {
    const [code, printed] = await run('orders', '--once', '--grpc', '127.0.0.1:0', '--http', '127.0.0.1:0')
    expect(code).to.equal(0)
    expect(printed).to.include('/v1/orders:place').and.include('mail to ada@example.com')
  })

  it('says which examples there are', async () => {
    expect(await run('gadgets')).to.satisfy(
      ([code, printed]: [number, string]) => code === 2 && printed.includes('[widgets|orders|sign-in]'),
    )
  })
})
