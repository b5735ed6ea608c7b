import { create } from '@bufbuild/protobuf'
import { anyPack, AnySchema } from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import { CredentialMinter } from '../../../lib/secrets/credential-minter.js'
import { newDev } from '../../../lib/secrets/dev-encryptor.js'
import type { IdempotencyStore } from '../../../lib/server/idempotency/idempotency-store.js'
import { MemoryIdempotencyStore } from '../../../lib/server/idempotency/memory-idempotency-store.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { AllTypesSchema, TypesService } from '../../support/gen/jsontypes_pb.js'
import { ParcelSchema, ParcelService } from '../../support/gen/parcels_pb.js'
import { SpecimenSchema, SpecimenService } from '../../support/gen/specimens_pb.js'
import { ALICE, partly, post, type RunningServer, startServer } from '../../support/servers/server.js'
import { Specimen } from '../../support/entities/specimen.js'

const SECRET = 'whsec-1f9a'

/** Notes all bytes that are kept. */
function listening(kept: Buffer[]): IdempotencyStore {
  const store = new MemoryIdempotencyStore()
  return {
    claim: async (key, fingerprint, leaseMs) => {
      const outcome = await store.claim(key, fingerprint, leaseMs)
      if (outcome.state !== 'claimed') return outcome
      const { claim } = outcome
      return {
        ...outcome,
        claim: {
          renew: (ms) => claim.renew(ms),
          release: () => claim.release(),
          complete: (reply, context) => {
            kept.push(Buffer.from(reply.message))
            return claim.complete(reply, context)
          },
        },
      }
    },
  }
}

describe('what is kept for duplicates of a call', () => {
  const kept: Buffer[] = []
  let running: RunningServer
  let types: ForeignClient
  let runs = 0
  let answer: Parameters<typeof create<typeof AllTypesSchema>>[1] = {}
  before(async () => {
    const sealing = { minter: new CredentialMinter(), encryptor: newDev(Buffer.alloc(32, 7)) }
    running = await startServer(
      (builder) =>
        builder
          .register(SpecimenService, new MemoryRepository(Specimen, sealing), { weighSpecimen: () => ({}) })
          .register(ParcelService, partly(ParcelService, {}))
          .register(
            TypesService,
            partly(TypesService, {
              send: () => {
                runs++
                return create(AllTypesSchema, answer)
              },
            }),
          ),
      { idempotencyStore: listening(kept) },
    )
    types = new ForeignClient(TypesService, running.grpc)
  })
  after(async () => {
    types.close()
    await running.stop()
  })
  beforeEach(() => {
    kept.length = 0
    runs = 0
  })

  const specimen = () =>
    anyPack(SpecimenSchema, create(SpecimenSchema, { id: 'seen', apiKey: SECRET, webhookSecret: SECRET }))

  const parcel = () =>
    anyPack(
      ParcelSchema,
      create(ParcelSchema, { title: 'books', pin: SECRET, address: { city: 'Bern', doorCode: SECRET } }),
    )

  for (const [where, init] of [
    ['in a google.protobuf.Any', () => ({ optionalAny: specimen() })],
    ['in a list of them', () => ({ repeatedAny: [specimen(), specimen()] })],
    ['in one below', () => ({ recursive: { recursive: { optionalAny: specimen() } } })],
    ['in one of one', () => ({ optionalAny: anyPack(AnySchema, specimen()) })],
  ] as const)
    it(`has no secret ${where}, and the rest is replayed`, async () => {
      answer = init()
      const headers = { ...ALICE, 'idempotency-key': `kept ${where}` }
      const first = await types.unary('Send', {}, headers)
      const again = await types.unary('Send', {}, headers)
      expect([first.code, again.code, runs]).to.deep.equal([0, 0, 1])
      expect(again.headers.get('x-idempotent-replay')).to.deep.equal(['true'])
      expect(kept).to.have.length(1)
      expect([kept[0]?.includes(SECRET), kept[0]?.includes('seen')]).to.deep.equal([false, true])
      expect(JSON.stringify(again.answer)).not.to.include(Buffer.from(SECRET).toString('base64').slice(0, 12))
    })

  for (const [where, init] of [
    ['in a google.protobuf.Any', () => ({ optionalAny: parcel() })],
    ['in a list of them', () => ({ repeatedAny: [parcel(), parcel()] })],
  ] as const)
    it(`has nothing that is INPUT_ONLY ${where}, over both listeners`, async () => {
      answer = init()
      const headers = { ...ALICE, 'idempotency-key': `input ${where}` }
      for (let n = 0; n < 2; n++) expect((await types.unary('Send', {}, headers)).code).to.equal(0)
      const send = () =>
        fetch(`${running.http}/v1/types`, post({ ...headers, 'idempotency-key': `HTTP ${where}` }))
      const [, again] = [await (await send()).text(), await (await send()).text()]
      expect(runs).to.equal(2)
      expect([again.includes(SECRET), again.includes('books')]).to.deep.equal([false, true])
      expect(kept.map((bytes) => [bytes.includes(SECRET), bytes.includes('books')])).to.deep.equal([
        [false, true],
        [false, true],
      ])
    })

  it('has no secret over HTTP, where the replay shows the rest', async () => {
    answer = { optionalAny: specimen() }
    const send = () => fetch(`${running.http}/v1/types`, post({ ...ALICE, 'idempotency-key': 'http' }))
    const [first, again] = [await (await send()).json(), await (await send()).json()] as Record<
      string,
      object
    >[]
    expect(first?.['optionalAny']).to.include({ id: 'seen', apiKey: SECRET })
    expect(again?.['optionalAny'])
      .to.include({ id: 'seen', apiKey: '' })
      .and.not.have.property('webhookSecret')
    expect(kept.some((bytes) => bytes.includes(SECRET))).to.equal(false)
  })

  it('is nothing where nobody can look into the response, and the duplicate is told', async () => {
    const value = new Uint8Array(Buffer.from(SECRET))
    answer = { optionalAny: create(AnySchema, { typeUrl: 'type.googleapis.com/other.v1.Thing', value }) }
    const headers = { ...ALICE, 'idempotency-key': 'unknown' }
    expect((await types.unary('Send', {}, headers)).code).to.equal(0)
    const again = await types.unary('Send', {}, headers)
    expect([again.code, runs]).to.deep.equal([9, 1])
    expect(again.details).to.match(/contains a google\.protobuf\.Any of a type that the server does not know/)
    expect(kept.map((bytes) => bytes.length)).to.deep.equal([0])
  })

  it('has no secret and no credential of a resource', async () => {
    const client = new ForeignClient(SpecimenService, running.grpc)
    const request = { specimen: { title: 'Marble', code: 'm', webhook_secret: SECRET }, request_id: 'r1' }
    const first = await client.unary('CreateSpecimen', request, ALICE)
    const again = await client.unary('CreateSpecimen', request, ALICE)
    client.close()
    const token = String(first.answer?.['api_key'])
    expect(token).to.match(/^ib_/)
    expect([again.code, again.answer?.['api_key'], again.answer?.['title']]).to.deep.equal([0, '', 'Marble'])
    expect(kept.some((bytes) => bytes.includes(SECRET) || bytes.includes(token))).to.equal(false)
  })
})
