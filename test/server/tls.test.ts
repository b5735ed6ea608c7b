import { ChannelCredentials } from '@grpc/grpc-js'
import { expect } from 'chai'
import { once } from 'node:events'
import { type IncomingMessage } from 'node:http'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { get, type RequestOptions } from 'node:https'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Config, resolveConfig } from '../../lib/server/config/config.js'
import { EchoService } from '../support/gen/specimens_pb.js'
import { authority } from '../support/servers/certificates.js'
import { ForeignClient } from '../support/grpc/clients.js'
import { ALICE, type RunningServer, startServer } from '../support/servers/server.js'
import { echoService } from '../support/grpc/echo.js'

describe('TLS', () => {
  const ours = authority('Ashlar test authority')
  const stranger = authority('Somebody else')
  const server = ours.issue('localhost')
  const client = ours.issue('alice')
  const tls = { certificateChain: server.certificate, privateKey: server.key }
  const mutual = { ...tls, clientCa: ours.certificate, requireClientCertificate: true }
  let running: RunningServer

  const start = async (config: Config) => {
    running = await startServer((builder) => builder.register(EchoService, echoService), config)
  }
  afterEach(() => running.stop())

  it('has a time for its handshake on each listener', async () => {
    await start({ tls, limits: { httpHeadersMs: 50 } })
    for (const address of [running.grpc, running.http.replace('http://', '')]) {
      const socket = connect(Number(address.split(':').at(-1)), '127.0.0.1').on('error', () => {})
      await once(socket.resume(), 'close')
    }
  })

  /** The code that a gRPC client gets which trusts `ca` and presents `own`. */
  const grpc = async (ca?: string, own?: typeof client): Promise<number> => {
    const credentials =
      ca === undefined
        ? ChannelCredentials.createInsecure()
        : ChannelCredentials.createSsl(Buffer.from(ca), ...pairOf(own))
    // By name: TLS has no server name that is an address.
    const address = running.grpc.replace('127.0.0.1', 'localhost')
    const foreign = new ForeignClient(EchoService, address, credentials)
    const { code } = await foreign.unary('Echo', { text: 'x' }, ALICE, { deadline: Date.now() + 5_000 })
    foreign.close()
    return code
  }

  /** The status of an https client, or the code of its error. */
  const https = async (ca: string, own?: typeof client): Promise<number | string | undefined> => {
    const options: RequestOptions = {
      ...{ ca, agent: false, ...(own && { cert: own.certificate, key: own.key }) },
    }
    const request = get(running.http.replace('http:', 'https:') + '/v1/ping', options)
    try {
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      response.resume()
      return response.statusCode
    } catch (error) {
      return (error as { code?: string }).code
    }
  }

  it('encrypts both listeners', async () => {
    await start({ tls })
    expect(await grpc(ours.certificate)).to.equal(0)
    expect(await https(ours.certificate)).to.equal(200)
  })

  it('takes certificate and key as bytes', async () => {
    await start({
      tls: { certificateChain: Buffer.from(server.certificate), privateKey: Buffer.from(server.key) },
    })
    expect(await grpc(ours.certificate)).to.equal(0)
    expect(await https(ours.certificate)).to.equal(200)
  })

  it('is not spoken with a client that trusts somebody else', async () => {
    await start({ tls })
    expect(await grpc(stranger.certificate)).to.equal(14)
    expect(await https(stranger.certificate)).to.match(/CERT|ISSUER|SIGNATURE/)
  })

  it('serves nothing in the clear', async () => {
    await start({ tls })
    expect(await grpc()).to.equal(14)
    const socket = connect(Number(new URL(running.http).port), '127.0.0.1')
    socket.write('GET /v1/ping HTTP/1.1\r\nHost: a\r\n\r\n')
    let heard = ''
    socket.on('data', (bytes: Buffer) => (heard += bytes.toString('latin1')))
    socket.on('error', () => {})
    await once(socket, 'close')
    expect(heard).not.to.contain('pong')
  })

  for (const [who, own, code, status] of [
    ['without a certificate', undefined, 14, /ECONNRESET|EPIPE|ERR_SSL|SOCKET/],
    ['with one of another authority', stranger.issue('alice'), 14, /ECONNRESET|EPIPE|ERR_SSL|SOCKET/],
    ['with one of its authority', client, 0, /^200$/],
  ] as const)
    it(`${code === 0 ? 'lets in' : 'refuses'} a client ${who} where it asks for one`, async () => {
      await start({ tls: mutual })
      expect(await grpc(ours.certificate, own)).to.equal(code)
      expect(String(await https(ours.certificate, own))).to.match(status)
    })

  it('does not ask for a certificate only because there is an authority', async () => {
    await start({ tls: { ...mutual, requireClientCertificate: false } })
    expect(await grpc(ours.certificate)).to.equal(0)
    expect(await https(ours.certificate)).to.equal(200)
  })

  it('is that of the gateway where the gateway has its own', async () => {
    await start({ tls: mutual, httpTls: tls })
    expect(await grpc(ours.certificate)).to.equal(14)
    expect(await https(ours.certificate)).to.equal(200)
    await running.stop()
    await start({ tls: mutual, httpTls: 'none' })
    expect((await fetch(`${running.http}/healthz`)).status).to.equal(200)
    expect(await grpc(ours.certificate, client)).to.equal(0)
  })

  describe('from files', () => {
    let folder: string
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'ashlar-tls-'))
      mkdirSync(join(folder, 'first'))
      symlinkSync('first', join(folder, 'current'))
      write('first', server)
    })
    afterEach(() => rmSync(folder, { recursive: true }))

    const path = (name: string) => join(folder, 'current', name)
    const write = (version: string, { certificate, key }: typeof client, ca = ours.certificate) => {
      writeFileSync(join(folder, version, 'tls.crt'), certificate)
      writeFileSync(join(folder, version, 'tls.key'), key)
      writeFileSync(join(folder, version, 'ca.crt'), ca)
    }
    const files = () => ({
      certificateChain: { file: path('tls.crt') },
      privateKey: { file: path('tls.key') },
    })
    const told = () => running.records.map(({ message }) => message)
    const until = async (message: string) => {
      while (!told().includes(message)) await pause(20)
    }

    it('is renewed on both listeners without a restart, for connections that are made from then on', async () => {
      await start({ tls: files() })
      expect([await grpc(ours.certificate), await https(ours.certificate)]).to.deep.equal([0, 200])
      write('first', stranger.issue('localhost'))
      await until('the certificate is renewed')
      expect([await grpc(stranger.certificate), await https(stranger.certificate)]).to.deep.equal([0, 200])
      expect(await grpc(ours.certificate)).to.equal(14)
      expect(await https(ours.certificate)).to.match(/CERT|ISSUER|SIGNATURE/)
    })

    it('follows a folder that is swapped, and renews whose clients are let in', async () => {
      const tls = { ...files(), clientCa: { file: path('ca.crt') }, requireClientCertificate: true }
      await start({ tls, httpTls: { ...tls } })
      expect(await grpc(ours.certificate, client)).to.equal(0)
      mkdirSync(join(folder, 'second'))
      write('second', server, stranger.certificate)
      symlinkSync('second', join(folder, 'next'))
      renameSync(join(folder, 'next'), join(folder, 'current'))
      while (told().filter((message) => message === 'the certificate is renewed').length < 2) await pause(20)
      expect(await grpc(ours.certificate, client)).to.equal(14)
      expect(await https(ours.certificate, client)).to.not.equal(200)
      const theirs = stranger.issue('alice')
      expect([await grpc(ours.certificate, theirs), await https(ours.certificate, theirs)]).to.deep.equal([
        0, 200,
      ])
    })

    it('stays the last good one while what is there cannot be used', async () => {
      await start({ tls: files() })
      writeFileSync(path('tls.key'), client.key)
      await until('the certificate is not used: the last good one stays')
      expect([await grpc(ours.certificate), await https(ours.certificate)]).to.deep.equal([0, 200])
      const failed = running.records.find(({ level }) => level === 'error')
      expect(JSON.stringify(failed?.fields))
        .to.include('tls.privateKey does not belong')
        .and.not.include('BEGIN')
      writeFileSync(path('tls.crt'), client.certificate)
      await until('the certificate is renewed')
      expect([await grpc(ours.certificate), await https(ours.certificate)]).to.deep.equal([0, 200])
    })

    it('stops the start where a file cannot be read', async () => {
      await start({})
      const missing = { ...files(), privateKey: { file: path('none') } }
      expect(() => resolveConfig({ grpcAddr: ':0', tls: missing })).to.throw(
        /tls: the file \S+none cannot be read \(ENOENT\)/,
      )
    })
  })
})

const pairOf = (own: { readonly certificate: string; readonly key: string } | undefined) =>
  own === undefined
    ? ([null, null] as const)
    : ([Buffer.from(own.key), Buffer.from(own.certificate)] as const)
