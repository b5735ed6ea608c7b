import { create } from '@bufbuild/protobuf'
import { expect } from 'chai'
import type { ServerCall } from '../../../lib/call.js'
import { RequestContext } from '../../../lib/context.js'
import { memoryRepositoryOf } from '../../../lib/persistence/repository-of.js'
import type { CountOptions, ListFilter } from '../../../lib/persistence/contract/repository.js'
import { MemoryOperationStore } from '../../../lib/server/operations/memory-operation-store.js'
import type { OperationRecord } from '../../../lib/server/operations/operation-store.js'
import { ServerBuilder } from '../../../lib/server/index.js'
import { securityCheck, type SecurityReport } from '../../../lib/testing/index.js'
import { Edition, Publisher } from '../../support/entities/edition.js'
import {
  type Edition as EditionMessage,
  EditionService,
  PublisherService,
} from '../../support/gen/editions_pb.js'
import { type EchoRequest, EchoResponseSchema } from '../../support/gen/specimens_pb.js'
import { SlowEcho } from '../../support/grpc/slow-echo.js'
import { partly } from '../../support/servers/server.js'

const found = ({ findings }: SecurityReport): readonly string[] => [
  ...new Set(findings.map(({ check, method, text }) => `${check} ${method.split('/').at(-1)}: ${text}`)),
]

/** It knows operations by their name alone. */
class Leaky extends MemoryOperationStore {
  readonly #tenants = new Map<string, string>()

  override async create(record: OperationRecord, owner: string, leaseMs: number): Promise<void> {
    this.#tenants.set(record.name, record.tenant)
    await super.create(record, owner, leaseMs)
  }
  override find(tenant: string, name: string): Promise<OperationRecord | undefined> {
    return super.find(this.#tenants.get(name) ?? tenant, name)
  }
}

describe('securityCheck of operations', () => {
  const start = (_request: EchoRequest, call: ServerCall) =>
    call.operations.start({}, () => Promise.resolve(create(EchoResponseSchema, { text: 'done' })))
  const check = (operationStore: MemoryOperationStore) =>
    securityCheck(
      new ServerBuilder({ operationStore })
        .register(PublisherService, new (memoryRepositoryOf(Publisher))())
        .register(SlowEcho, partly(SlowEcho, { echo: start })),
      { requests: { '/specimens.v1.EchoService/Echo': () => ({ text: 'check' }) } },
    )
  const ofOperations = ({ notChecked }: SecurityReport) =>
    notChecked.filter(({ method }) => method.includes('Operations/'))

  it('checks that those of another tenant appear not to exist', async () => {
    const report = await check(new MemoryOperationStore())
    expect([found(report).filter((text) => text.includes('Operation')), ofOperations(report)]).to.deep.equal([
      [],
      [],
    ])
  })

  it('finds a store that knows them by their name alone', async () => {
    expect(found(await check(new Leaky()))).to.include.members([
      "isolation GetOperation: it reaches another tenant's operation",
      "isolation WaitOperation: it reaches another tenant's operation",
    ])
  })
})

describe('securityCheck of what a list counts, and of functions in place of standard methods', () => {
  class Editions extends memoryRepositoryOf(Edition) {}
  const check = (editions: Editions, implementation = {}) =>
    securityCheck(
      new ServerBuilder()
        .register(PublisherService, new (memoryRepositoryOf(Publisher))())
        .register(EditionService, editions, implementation),
    )

  it('finds a total of deleted rows', async () => {
    class Counting extends Editions {
      override count(list?: ListFilter, options?: CountOptions): Promise<number> {
        return super.count({ ...list, showDeleted: true }, options)
      }
    }
    expect(found(await check(new Counting()))).to.deep.equal([
      'isolation ListEditions: its total counts rows that it does not show to the caller',
    ])
  })

  it('finds what depends on the rows of another tenant in a function in place of a Get', async () => {
    const editions = new Editions()
    const getEdition =
      (isLeaky: boolean) =>
      async ({ name }: { name: string }) => {
        const key = String(editions.model.name?.parse(name)?.at(-1))
        const message = editions.model.toMessage<EditionMessage>(await editions.get(key))
        const all = await RequestContext.asSystem(() => editions.count())
        return isLeaky ? { ...message, pages: all } : message
      }
    expect(found(await check(editions, { getEdition: getEdition(false) }))).to.deep.equal([])
    expect(found(await check(editions, { getEdition: getEdition(true) })).join()).to.match(
      /isolation GetEdition: what it returns in pages depends on .* of another tenant/,
    )
  })
})
