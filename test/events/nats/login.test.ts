import { nkeyAuthenticator, nkeys } from '@nats-io/transport-node'
import { expect } from 'chai'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Unavailable } from '../../../lib/errors.js'
import type { LoggedEvent } from '../../../lib/events/log/event-log.js'
import type { NatsOptions } from '../../../lib/events/nats/nats-options.js'
import { natsSink } from '../../../lib/events/nats/nats-sink.js'
import { needsNats } from '../../support/databases/on-nats.js'
import { rejection } from '../../support/rejection.js'
import { ownServer, type StartedService } from '../../support/running/start-services.js'
import { authority } from '../../support/servers/certificates.js'

const PASSWORD = 'p@ss:w/rd%'
const TOKEN = 't0ken'
const key = nkeys.createUser()
const ca = authority('events')
const certified = ca.issue('127.0.0.1')

/** Each asks for another login. */
const SETTINGS = {
  users: `authorization { users: [ { user: "relay", password: "${PASSWORD}" }, { nkey: "${key.getPublicKey()}" } ] }`,
  token: `authorization { token: "${TOKEN}" }`,
  tls: 'tls { cert_file: "./cert.pem", key_file: "./key.pem" }\nauthorization { token: "t0ken" }',
} as const

describe('a login at NATS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ashlar-nats-login-'))
  const servers: Partial<Record<keyof typeof SETTINGS, StartedService>> = {}

  before(async function () {
    needsNats('a login at NATS', this)
    chmodSync(folder, 0o755)
    writeFileSync(join(folder, 'cert.pem'), certified.certificate)
    writeFileSync(join(folder, 'key.pem'), certified.key)
    for (const name of ['users', 'token', 'tls'] as const) {
      const path = join(folder, `${name}.conf`)
      writeFileSync(path, SETTINGS[name].replaceAll('./', `${folder}/`))
      servers[name] = await ownServer('nats', this, undefined, ['-c', path])
    }
  })
  after(async () => {
    for (const server of Object.values(servers)) await server.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const event: LoggedEvent = {
    ...{
      position: 1,
      id: 'e-1',
      tenant: 'acme',
      resource: 'order',
      verb: 'paid',
      key: 'o',
      seq: 0,
      epoch: 0,
    },
    payload: Buffer.from('{}'),
  }
  const hostOf = (name: keyof typeof SETTINGS) => new URL(servers[name]?.url ?? '').host
  const deliver = async (options: NatsOptions) => {
    const sink = natsSink(options)
    try {
      await sink.deliver(event)
    } finally {
      await sink.close()
    }
  }

  it('is by a user and a password in the URL', () =>
    deliver({ servers: `nats://relay:${encodeURIComponent(PASSWORD)}@${hostOf('users')}` }))

  it('is by a token in the URL', () => deliver({ servers: `nats://${TOKEN}@${hostOf('token')}` }))

  it('is by an nkey', () =>
    deliver({
      servers: `nats://${hostOf('users')}`,
      connection: { authenticator: nkeyAuthenticator(key.getSeed()) },
    }))

  it('is over TLS, with an authority of its own', async () => {
    const address = `tls://${TOKEN}@${hostOf('tls')}`
    await deliver({ servers: address, connection: { tls: { ca: ca.certificate } } })
    await rejection(deliver({ servers: address }), Unavailable)
  })

  it('that is refused is an outage, and its error shows no secret', async () => {
    for (const login of ['', 'relay:wrong-secret@', 'wrong-secret@']) {
      const refused = await rejection(deliver({ servers: `nats://${login}${hostOf('users')}` }), Unavailable)
      expect(String((refused as { cause?: unknown }).cause)).to.match(/authorization/i)
      expect(JSON.stringify([refused, refused.message, String(refused)])).to.not.include('wrong-secret')
    }
  })
})
