import { create } from '@bufbuild/protobuf'
import { FieldDescriptorProto_Type as FieldType, file_google_protobuf_wrappers } from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { serveSpecimens } from '../../support/servers/served-specimens.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import { CredentialMinter } from '../../../lib/secrets/credential-minter.js'
import { newDev } from '../../../lib/secrets/dev-encryptor.js'
import { supportsValidateOnly } from '../../../lib/server/chain/handler.js'
import { type Altered, altered } from '../../support/grpc/altered.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import {
  type CreateSpecimenRequest,
  EchoService,
  SpecimenSchema,
  SpecimenService,
} from '../../support/gen/specimens_pb.js'
import { ALICE, partly, post, startServer } from '../../support/servers/server.js'
import { Specimen } from '../../support/entities/specimen.js'

/** Rules that the database checks at COMMIT, and that a specimen titled Onyx violates. */
const SQLITE_DEFERRED = [
  'CREATE TABLE gems (title TEXT REFERENCES gems (name) DEFERRABLE INITIALLY DEFERRED, name TEXT UNIQUE)',
  "CREATE TRIGGER onyx AFTER INSERT ON specimens WHEN NEW.title = 'Onyx' BEGIN INSERT INTO gems (title) VALUES ('none'); END",
  'PRAGMA foreign_keys = OFF',
  "INSERT INTO gems (title) VALUES ('wrong')",
  'PRAGMA foreign_keys = ON',
]
const DEFERRED: Readonly<Partial<Record<string, readonly string[]>>> = {
  sqlite: SQLITE_DEFERRED,
  'better-sqlite3': SQLITE_DEFERRED,
  postgres: [
    "CREATE TABLE gems (title text UNIQUE DEFERRABLE INITIALLY DEFERRED); INSERT INTO gems VALUES ('Onyx')",
    'CREATE FUNCTION onyx() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO gems VALUES (NEW.title); RETURN NEW; END $$',
    'CREATE TRIGGER onyx AFTER INSERT ON specimens FOR EACH ROW EXECUTE FUNCTION onyx()',
  ],
}

describeOn('validate_only served by a repository', backends, (backend) => {
  let served: Awaited<ReturnType<typeof serveSpecimens>>
  let client: ForeignClient

  before(async () => {
    served = await serveSpecimens(backend)
    client = served.client
  })

  after(() => served?.stop())

  const list = async () => {
    const { answer } = await client.unary('ListSpecimens', { show_deleted: true }, ALICE)
    return answer?.['specimens'] as Record<string, unknown>[]
  }

  it('returns what create would have returned, without a token, and creates nothing', async () => {
    const request = { specimen: { title: 'Marble', code: 'v1' }, specimen_id: 'v1', validate_only: true }
    const { answer, code, details } = await client.unary('CreateSpecimen', request, ALICE)
    expect(code, details).to.equal(0)
    expect(answer).to.include({ id: 'v1', title: 'Marble', account_id: 'acme', api_key: '' })
    expect(answer?.['etag']).not.to.equal('')
    expect(await list()).to.deep.equal([])
  })

  it('returns what update would have returned, and updates nothing', async () => {
    const made = await client.unary(
      'CreateSpecimen',
      { specimen: { title: 'Slate', code: 'v2' }, specimen_id: 'v2' },
      ALICE,
    )
    expect(made.answer?.['api_key']).to.match(/^ib_/)
    const request = {
      specimen: { id: 'v2', title: 'Basalt' },
      update_mask: { paths: ['title'] },
      validate_only: true,
    }
    const { answer } = await client.unary('UpdateSpecimen', request, ALICE)
    expect(answer).to.include({ id: 'v2', title: 'Basalt' })
    const { answer: after } = await client.unary('GetSpecimen', { id: 'v2' }, ALICE)
    expect(after).to.include({ title: 'Slate', etag: made.answer?.['etag'] })
  })

  it('fails as the real call would', async () => {
    const taken = { specimen: { title: 'Slate', code: 'other' }, specimen_id: 'v2', validate_only: true }
    expect((await client.unary('CreateSpecimen', taken, ALICE)).code).to.equal(6)
    const missing = { specimen: { id: 'none' }, update_mask: { paths: ['title'] }, validate_only: true }
    expect((await client.unary('UpdateSpecimen', missing, ALICE)).code).to.equal(5)
  })

  it('keeps nothing for replay, and is not replayed', async () => {
    const request = { specimen: { title: 'Chalk', code: 'v3' }, specimen_id: 'v3', request_id: 'again' }
    const headers = { ...ALICE, 'idempotency-key': 'again' }
    await client.unary('CreateSpecimen', { ...request, validate_only: true }, headers)
    const real = await client.unary('CreateSpecimen', request, headers)
    expect(real.answer?.['api_key']).to.match(/^ib_/)
    const replayed = await client.unary('CreateSpecimen', request, headers)
    expect(replayed.answer).to.include({ id: 'v3', api_key: '' })
    expect(replayed.headers.get('x-idempotent-replay')).to.deep.equal(['true'])
  })

  const deferred = DEFERRED[backend.name]
  if (deferred !== undefined)
    it('fails as the real call would at COMMIT, and counts no row that was wrong before', async () => {
      for (const statement of deferred) await served.dataSource?.query(statement)
      const create = (title: string, validate_only: boolean) => {
        const id = title.toLowerCase()
        const request = { specimen: { title, code: id }, specimen_id: id, validate_only }
        return client.unary('CreateSpecimen', request, ALICE)
      }
      const real = await create('Onyx', false)
      expect(real.code).to.equal(backend.name === 'postgres' ? 6 : 9)
      const { code, details } = await create('Onyx', true)
      expect([code, details]).to.deep.equal([real.code, real.details])
      expect((await create('Opal', true)).code).to.equal(0)
    })
})

describe('validate_only served by an implementation', () => {
  it('does not run a handler that does not know of it', async () => {
    let ran = 0
    const createSpecimen = () => {
      ran++
      return { id: '1' }
    }
    const running = await startServer((builder) =>
      builder.register(SpecimenService, partly(SpecimenService, { createSpecimen })),
    )
    const client = new ForeignClient(SpecimenService, running.grpc)
    const { code, answer } = await client.unary('CreateSpecimen', { validate_only: true }, ALICE)
    expect([code, answer?.['id'], ran]).to.deep.equal([0, '', 0])
    await client.unary('CreateSpecimen', {}, ALICE)
    expect(ran).to.equal(1)
    client.close()
    await running.stop()
  })

  it('runs one that does', async () => {
    const createSpecimen = supportsValidateOnly(
      ({ specimen }: CreateSpecimenRequest, call: { validateOnly: boolean }) => ({
        id: call.validateOnly ? 'would be made' : 'made',
        title: specimen?.title ?? '',
      }),
    )
    const running = await startServer((builder) =>
      builder.register(SpecimenService, partly(SpecimenService, { createSpecimen })),
    )
    const client = new ForeignClient(SpecimenService, running.grpc)
    const { answer } = await client.unary('CreateSpecimen', { validate_only: true }, ALICE)
    expect(answer).to.include({ id: 'would be made' })
    client.close()
    await running.stop()
  })
})

describe('validate_only where nobody would heed it', () => {
  const NESTED = /is not supported here, so everything would be written: send it for the whole call$/

  it('is refused in an item of a batch, over gRPC and HTTP, and nothing is written', async () => {
    const sealing = { minter: new CredentialMinter(), encryptor: newDev(Buffer.alloc(32, 7)) }
    const specimens = new MemoryRepository(Specimen, sealing)
    const weighSpecimen = () => create(SpecimenSchema)
    const running = await startServer((builder) =>
      builder.register(SpecimenService, specimens, { weighSpecimen }),
    )
    const client = new ForeignClient(SpecimenService, running.grpc)
    for (const id of ['a', 'b'])
      await client.unary(
        'CreateSpecimen',
        { specimen: { title: 'Marble', code: id }, specimen_id: id },
        ALICE,
      )
    const item = (id: string, more: object) => ({
      specimen: { id, title: 'Slate' },
      update_mask: { paths: ['title'] },
      ...more,
    })
    const requests = [item('a', {}), item('b', { validate_only: true })]
    const { code, details } = await client.unary('BatchUpdateSpecimens', { requests }, ALICE)
    expect(code).to.equal(3)
    expect(details)
      .to.match(/^requests\[1\]\.validate_only: /)
      .and.match(NESTED)
    const body = {
      requests: [{ specimen: { id: 'a', title: 'Slate' }, updateMask: 'title', validateOnly: true }],
    }
    const response = await fetch(`${running.http}/v1/specimens:batchUpdate`, post(ALICE, body))
    expect(response.status).to.equal(400)
    expect(await response.text()).to.include('requests[0].validate_only')
    const { answer } = await client.unary('BatchGetSpecimens', { ids: ['a', 'b'] }, ALICE)
    expect((answer?.['specimens'] as { title: string }[]).map(({ title }) => title)).to.deep.equal([
      'Marble',
      'Marble',
    ])
    client.close()
    await running.stop()
  })

  /**
   * The batch with a validate_only of its own, a single request, a map of them, a oneof and a message that
   * holds itself.
   */
  const Nested = altered(SpecimenService, (proto) => {
    const request = { typeName: '.specimens.v1.UpdateSpecimenRequest' }
    proto.addField('BatchUpdateSpecimensRequest', 'validate_only', FieldType.BOOL)
    proto.addField('BatchUpdateSpecimensRequest', 'single', FieldType.MESSAGE, request)
    proto.addField('BatchUpdateSpecimensRequest', 'again', FieldType.MESSAGE, {
      typeName: '.specimens.v1.BatchUpdateSpecimensRequest',
      repeated: true,
    })
    // A resource is no request, whatever its fields are called.
    proto.addField('Specimen', 'validate_only', FieldType.BOOL)
  })
  const slate = { specimen: { id: 'a' }, update_mask: { paths: ['title'] } }
  const flagged = { ...slate, validate_only: true }
  const rows: readonly (readonly [string, object, string | undefined])[] = [
    ['an item', { requests: [slate, flagged] }, 'requests[1].validate_only'],
    ['a single request', { single: flagged }, 'single.validate_only'],
    ['an item of an item', { again: [{}, { requests: [flagged] }] }, 'again[1].requests[0].validate_only'],
    ['a batch in a batch', { again: [{ validate_only: true }] }, 'again[0].validate_only'],
    ['no item', { requests: [slate], single: slate }, undefined],
    ['a resource', { requests: [{ ...slate, specimen: { id: 'a', validate_only: true } }] }, undefined],
    ['an item and the whole call', { requests: [flagged], validate_only: true }, undefined],
  ]

  for (const [name, request, path] of rows)
    it(`${path === undefined ? 'is let through' : 'is refused'} in ${name} of an implementation`, async () => {
      let ran = 0
      const batchUpdateSpecimens = () => {
        ran++
        return {}
      }
      const running = await startServer((builder) =>
        builder.register(Nested, partly(Nested, { batchUpdateSpecimens })),
      )
      const client = new ForeignClient(Nested, running.grpc)
      const { code, details } = await client.unary('BatchUpdateSpecimens', request, ALICE)
      if (path === undefined) expect(code).to.equal(0)
      else expect([code, details.split(':')[0], ran]).to.deep.equal([3, path, 0])
      if ('validate_only' in request) expect(ran).to.equal(0)
      client.close()
      await running.stop()
    })

  it('is left to an implementation that heeds it', async () => {
    const seen: boolean[] = []
    const batchUpdateSpecimens = supportsValidateOnly(
      ({ requests }: { requests: readonly { validateOnly: boolean }[] }) => {
        seen.push(...requests.map(({ validateOnly }) => validateOnly))
        return {}
      },
    )
    const running = await startServer((builder) =>
      builder.register(Nested, partly(Nested, { batchUpdateSpecimens })),
    )
    const client = new ForeignClient(Nested, running.grpc)
    const { code } = await client.unary('BatchUpdateSpecimens', { requests: [slate, flagged] }, ALICE)
    expect([code, seen]).to.deep.equal([0, [false, true]])
    client.close()
    await running.stop()
  })

  it('is refused in a message of a stream', async () => {
    const Streamed = altered(EchoService, (proto) =>
      proto.addField('EchoRequest', 'validate_only', FieldType.BOOL),
    )
    const texts: string[] = []
    const collect = async (requests: AsyncIterable<{ text: string }>) => {
      for await (const { text } of requests) texts.push(text)
      texts.push('end')
      return {}
    }
    const running = await startServer((builder) => builder.register(Streamed, partly(Streamed, { collect })))
    const client = new ForeignClient(Streamed, running.grpc)
    const { code, details } = await client.stream(
      'Collect',
      [{ text: 'a' }, { text: 'b', validate_only: true }],
      ALICE,
    )
    expect([code, details, texts]).to.deep.equal([
      3,
      'validate_only: is not supported by Collect: leave it out',
      ['a'],
    ])
    client.close()
    await running.stop()
  })

  it('is heeded in whatever way its field holds a bool', async () => {
    for (const change of [
      (proto: Altered) => {
        proto.removeField('EchoRequest', 'flag')
        proto.addField('EchoRequest', 'validate_only', FieldType.MESSAGE, {
          typeName: '.google.protobuf.BoolValue',
        })
      },
      (proto: Altered) => {
        proto.addField('EchoRequest', 'validate_only', FieldType.BOOL)
        const field = proto.message('EchoRequest').field.find(({ name }) => name === 'validate_only')
        if (field !== undefined) field.oneofIndex = 0
      },
    ]) {
      let ran = 0
      const Held = altered(EchoService, change, [file_google_protobuf_wrappers])
      const echo = () => {
        ran++
        return {}
      }
      const running = await startServer((builder) => builder.register(Held, partly(Held, { echo })))
      const response = await fetch(`${running.http}/v1/echo`, post(ALICE, { validate_only: true }))
      expect([response.status, ran]).to.deep.equal([200, 0])
      await running.stop()
    }
  })
})
