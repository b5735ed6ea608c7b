import { create, setExtension } from '@bufbuild/protobuf'
import { FieldDescriptorProto_Type as Type, MessageOptionsSchema } from '@bufbuild/protobuf/wkt'
import { status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { CreateTime, ETag, Resource, SoftDeletable, TenantScoped } from '../../../../decorators/index.js'
import { RequestContext } from '../../../../lib/context.js'
import { resource } from 'ashlar-annotations/google/api/resource_pb.js'
import { MemoryRepository } from '../../../../lib/persistence/memory/memory-repository.js'
import { resourceModel } from '../../../../lib/resource/resource-model.js'
import { standardMethod } from '../../../../lib/server/methods/standard-method.js'
import { wrapped } from '../../../../lib/server/methods/wrapped.js'
import { Edition, Policy } from '../../../support/entities/edition.js'
import {
  EditionSchema,
  EditionService,
  PolicySchema,
  PolicyService,
  PublisherService,
} from '../../../support/gen/editions_pb.js'
import { altered, type Altered } from '../../../support/grpc/altered.js'
import { ForeignClient } from '../../../support/grpc/clients.js'
import { ALICE, startServer } from '../../../support/servers/server.js'

const EDITIONS = 'publishers/{publisher}/series/{series}/editions/{edition}'

describe('a standard method of a resource with a name', () => {
  for (const [service, message, entity] of [
    [EditionService, EditionSchema, Edition],
    [PolicyService, PolicySchema, Policy],
  ] as const)
    for (const method of service.methods)
      it(`is ${method.name}`, () => {
        expect(
          standardMethod(method, message, resourceModel(entity as typeof Edition).name),
        ).to.have.property('kind')
      })

  const path = (value: string) => ({ pattern: { case: 'get', value } }) as const
  const misses: readonly (readonly [string, string, (proto: Altered) => void, string])[] = [
    [
      'a path of another pattern',
      'GetEdition',
      (proto) => proto.bindPath('GetEdition', path('/v1/{name=publishers/*/editions/*}')),
      `no name in /v1/{name=publishers/*/editions/*} looks like ${EDITIONS}`,
    ],
    [
      'a path of one segment',
      'GetEdition',
      (proto) => proto.bindPath('GetEdition', path('/v1/editions/{name}')),
      `no name in /v1/editions/{name} looks like ${EDITIONS}`,
    ],
    [
      'a path of another collection',
      'UpdateEdition',
      (proto) => proto.bindPath('UpdateEdition', path('/v1/{edition.name=publishers/*/series/*/books/*}')),
      `no edition.name in /v1/{edition.name=publishers/*/series/*/books/*} looks like ${EDITIONS}`,
    ],
    [
      'a path of another parent',
      'ListEditions',
      (proto) => proto.bindPath('ListEditions', path('/v1/{parent=publishers/*}/editions')),
      'no parent in /v1/{parent=publishers/*}/editions looks like publishers/{publisher}/series/{series}',
    ],
    [
      'a Create without a parent',
      'CreateEdition',
      (proto) => {
        proto.removeField('CreateEditionRequest', 'parent')
        proto.bindPath('CreateEdition', path('/v1/editions'))
      },
      'CreateEditionRequest has no "string parent", which is publishers/{publisher}/series/{series}',
    ],
    [
      'a parent that is not a string',
      'ListEditions',
      (proto) => {
        proto.removeField('ListEditionsRequest', 'parent')
        proto.addField('ListEditionsRequest', 'parent', Type.INT64)
        proto.bindPath('ListEditions', path('/v1/editions'))
      },
      'a repository would ignore parent of ListEditionsRequest',
    ],
  ]
  for (const [title, name, change, differs] of misses)
    it(`is none with ${title}`, () => {
      const service = altered(EditionService, change)
      const method = service.methods.find((one) => one.name === name)
      const { name: pattern } = resourceModel(Edition)
      expect(method && standardMethod(method, EditionSchema, pattern)).to.deep.equal({ differs })
    })

  it('takes any path that a name fits', () => {
    for (const value of [
      '/v1/{name=**}',
      '/v1/{name=publishers/**}',
      '/v1/{name=publishers/*/series/*/editions/*}:get',
    ]) {
      const service = altered(EditionService, (proto) => proto.bindPath('GetEdition', path(value)))
      const method = service.methods.find(({ name }) => name === 'GetEdition')
      expect(
        method && standardMethod(method, EditionSchema, resourceModel(Edition).name),
        value,
      ).to.have.property('kind')
    }
  })

  it('neither creates nor deletes a singleton', () => {
    const service = altered(PublisherService, (proto) => {
      proto.method('CreatePublisher').name = 'CreatePolicy'
      proto.bindPath('CreatePolicy', path('/v1/policies'))
    })
    const method = service.methods.find(({ name }) => name === 'CreatePolicy')
    expect(method && standardMethod(method, PolicySchema, resourceModel(Policy).name)).to.deep.equal({
      differs: 'a policy is a singleton (AIP-156), which is neither created nor deleted',
    })
  })
})

describe('a resource with a name', () => {
  it('can be asked for by its key, where the request has an id', async () => {
    const ById = altered(EditionService, (proto) => {
      proto.removeField('GetEditionRequest', 'name')
      proto.addField('GetEditionRequest', 'id')
      proto.bindPath('GetEdition', { pattern: { case: 'get', value: '/v1/editions/{id}' } })
    })
    const editions = new MemoryRepository(Edition)
    const running = await startServer((builder) => builder.register(ById, editions))
    const client = new ForeignClient(ById, running.grpc)
    await RequestContext.as({ tenant: 'acme', subject: 'ada' }, () =>
      editions.create({ id: 'a', publisherId: 'p', seriesId: 's', title: 't', pages: 1 }),
    )
    const { answer } = await client.unary('GetEdition', { id: 'a' }, ALICE)
    expect(answer).to.include({ name: 'publishers/p/series/s/editions/a' })
    const response = await fetch(`${running.http}/v1/editions/a`, { headers: ALICE })
    expect(await response.json()).to.include({ name: 'publishers/p/series/s/editions/a' })
    client.close()
    await running.stop()
  })

  it('is found by its name before a wrapped method runs, and nowhere else', async () => {
    const editions = new MemoryRepository(Edition)
    let ran = 0
    const running = await startServer((builder) =>
      builder.register(EditionService, editions, {
        updateEdition: wrapped({ transaction: true }, (request, _call, standard) => {
          ran++
          return standard(request)
        }),
      }),
    )
    const client = new ForeignClient(EditionService, running.grpc)
    const { etag } = await RequestContext.as({ tenant: 'acme', subject: 'ada' }, () =>
      editions.create({ id: 'a', publisherId: 'p', seriesId: 's', title: 't', pages: 1 }),
    )
    const update = (name: string, ifMatch: string) =>
      client.unary(
        'UpdateEdition',
        { edition: { name, title: 'u', etag: ifMatch }, update_mask: { paths: ['title'] } },
        ALICE,
      )
    expect((await update('publishers/q/series/s/editions/a', etag)).code).to.equal(5)
    expect((await update('publishers/-/series/s/editions/a', etag)).code).to.equal(3)
    expect((await update('publishers/p/series/s/editions/a', '"old"')).code).to.equal(9)
    expect(ran).to.equal(0)
    expect((await update('publishers/p/series/s/editions/a', etag)).code).to.equal(0)
    expect(ran).to.equal(1)
    client.close()
    await running.stop()
  })

  it('can have the tenant in its name, which is that of the caller', async () => {
    const InAccounts = altered(EditionService, (proto) => {
      const options = create(MessageOptionsSchema)
      setExtension(options, resource, {
        type: 'editions.example.com/Edition',
        pattern: ['accounts/{account}/editions/{edition}'],
      } as never)
      proto.message('Edition').options = options
      for (const { name } of EditionService.methods)
        proto.bindPath(name, { pattern: { case: 'post', value: `/v1/${name}` }, body: '*' })
    })

    @Resource({ message: InAccounts.method.getEdition.output, type: 'edition' })
    @Entity('editions_in_accounts')
    @TenantScoped()
    @SoftDeletable()
    class Owned {
      @PrimaryColumn() id!: string
      @Column() seriesId!: string
      @Column() title!: string
      @Column() pages!: number
      @ETag() etag!: string
      @CreateTime() createTime!: Date
      accountId!: string
      deleteTime?: Date
    }
    const editions = new MemoryRepository(Owned)
    const running = await startServer((builder) => builder.register(InAccounts, editions))
    const client = new ForeignClient(InAccounts, running.grpc)
    const made = (parent: string) =>
      client.unary('CreateEdition', { parent, edition: { title: 't' }, edition_id: 'a' }, ALICE)
    expect((await made('accounts/globex')).code).to.equal(status.NOT_FOUND)
    expect((await made('accounts/acme')).answer).to.include({ name: 'accounts/acme/editions/a' })
    const read = async (account: string) =>
      (await client.unary('GetEdition', { name: `accounts/${account}/editions/a` }, ALICE)).code
    expect([await read('acme'), await read('-'), await read('globex')]).to.deep.equal([
      0,
      0,
      status.NOT_FOUND,
    ])
    const list = async (account: string) =>
      (await client.unary('ListEditions', { parent: `accounts/${account}` }, ALICE)).answer?.['editions']
    expect(await list('acme')).to.have.length(1)
    expect(await list('-')).to.have.length(1)
    expect(await list('globex')).to.have.length(0)
    expect(await client.unary('ListEditions', { parent: 'accounts/-' }, { ...ALICE, 'account-id': 'globex' }))
      .to.have.nested.property('answer.editions')
      .with.length(0)
    client.close()
    await running.stop()
  })
})
