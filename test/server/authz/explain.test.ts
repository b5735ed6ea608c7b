import { expect } from 'chai'
import { DeclarationError } from '../../../lib/errors.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import type { Config } from '../../../lib/server/config/config.js'
import { devAuthorizer } from '../../../lib/server/authz/dev-authorizer.js'
import { Note } from '../../support/entities/specimen.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { NoteService } from '../../support/gen/specimens_pb.js'
import { rejection } from '../../support/rejection.js'
import { startServer } from '../../support/servers/server.js'

const ANN = { 'account-id': 'acme', subject: 'ann', groups: 'staff' }
const authorizer = devAuthorizer([{ tenant: '*', subjects: ['*'], verbs: ['list'], resource: '*' }])

const serve = (config: Config = {}) =>
  startServer((builder) => builder.register(NoteService, new MemoryRepository(Note)), {
    authorizer,
    ...config,
  })

/** Runs `fn` where NODE_ENV is what it says. */
async function inEnvironment(name: string | undefined, fn: () => Promise<void>): Promise<void> {
  const before = process.env['NODE_ENV']
  const set = (value: string | undefined) => {
    if (value === undefined) delete process.env['NODE_ENV']
    else process.env['NODE_ENV'] = value
  }
  set(name)
  try {
    await fn()
  } finally {
    set(before)
  }
}

describe('why a call is denied', () => {
  for (const environment of ['development', 'test'])
    it(`is told to clients and to the log where NODE_ENV is ${environment}`, () =>
      inEnvironment(environment, async () => {
        const running = await serve()
        try {
          const response = await fetch(`${running.http}/v1/notes/a`, { headers: ANN })
          const why =
            'no grant allows get on note to subject "ann" of tenant "acme" in groups [staff]: it is allowed list'
          expect([response.status, response.headers.get('x-denied-because')]).to.deep.equal([403, why])
          expect(JSON.stringify(await response.json())).to.not.include('grant')
          const client = new ForeignClient(NoteService, running.grpc)
          const outcome = await client.unary('GetNote', { name: 'notes/a' }, ANN)
          client.close()
          expect([outcome.code, outcome.headers.get('x-denied-because')]).to.deep.equal([7, [why]])
          const record = running.records.find(({ fields }) => fields['code'] === 'PERMISSION_DENIED')
          expect(record?.fields['denial']).to.equal(why)
          const nobody = await fetch(`${running.http}/v1/notes/a`)
          expect(nobody.headers.get('x-denied-because')).to.include('no identity')
          const allowed = await fetch(`${running.http}/v1/notes`, { headers: ANN })
          expect([allowed.status, allowed.headers.has('x-denied-because')]).to.deep.equal([200, false])
        } finally {
          await running.stop()
        }
      }))

  for (const environment of ['production', 'staging', '', undefined])
    it(`is not returned to callers if NODE_ENV is ${environment ?? 'not set'}, with allowDevelopment either`, () =>
      inEnvironment(environment, async () => {
        const running = await serve()
        try {
          const response = await fetch(`${running.http}/v1/notes/a`, { headers: ANN })
          expect([response.status, response.headers.has('x-denied-because')]).to.deep.equal([403, false])
          expect(running.records.some(({ fields }) => 'denial' in fields)).to.equal(false)
        } finally {
          await running.stop()
        }
        const refused = await rejection(
          serve({ explainDenials: true, allowDevelopment: false }),
          DeclarationError,
        )
        expect(refused.message).to.include('explainDenials shows callers why they were denied')
      }))

  it('is one line of what a header can hold, whatever the caller is called', () =>
    inEnvironment('test', async () => {
      const running = await serve({
        authorizer: { authorize: () => false, explain: () => `because\r\nset-cookie: é ${'x'.repeat(9999)}` },
      })
      try {
        const response = await fetch(`${running.http}/v1/notes/a`, { headers: ANN })
        expect(response.headers.get('x-denied-because')).to.match(/^because\?\?set-cookie: \? x{489}$/)
      } finally {
        await running.stop()
      }
    }))
})
