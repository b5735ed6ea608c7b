import type { Message } from '@bufbuild/protobuf'
import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { RequestContext } from '../../../lib/context.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { executorOf } from '../../../lib/persistence/engines/executor-of.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import { newVaultTransit, type VaultTransit } from '../../../lib/secrets/vault-transit.js'
import type { Authorizer } from '../../../lib/server/authz/authorizer.js'
import { authorizeEntity } from '../../../lib/server/authz/decision.js'
import { SqlIdempotencyStore } from '../../../lib/server/idempotency/sql-idempotency-store.js'
import { wrapped } from '../../../lib/server/methods/wrapped.js'
import { databases, describeOn } from '../../support/databases/backends.js'
import { Specimen } from '../../support/entities/specimen.js'
import { serveSpecimens } from '../../support/servers/served-specimens.js'
import { ALICE } from '../../support/servers/server.js'
import { TransitServer } from '../../support/servers/transit-server.js'
import { until } from '../../support/until.js'
import { INDEX_KEY } from '../../secrets/transit-rejections.js'
import { applyBaseline } from '../../support/databases/baseline.js'

type Served = Awaited<ReturnType<typeof serveSpecimens>>
/** In acme, outside of a server. */
const IN_ACME = {
  context: new RequestContext({ principal: { subject: 'a', tenant: 'acme', groups: [], scopes: [] } }),
}
let next = 0
let converted: Message[] = []

/** Notes each message of which an entity is made. Methods of the service: none. */
const counting = (specimens: Repository<Specimen>): object => {
  const { model } = specimens
  const fromMessage = (message: Message) => {
    converted.push(message)
    return model.fromMessage(message)
  }
  Object.assign(specimens, { model: { ...model, fromMessage } })
  return {}
}

const fresh = () => `s${next++}`

/** Alice may write what has her title, which is asked in a transaction. */
const byRow: Authorizer = {
  decidesByRow: true,
  authorize: ({ verb }) => {
    const where = filter`title = "alice"`
    if (verb === 'get') return true
    return verb === 'create' ? { where } : authorizeEntity(() => true, { where })
  },
}

describeOn('while an encryption server hangs', databases, (backend) => {
  let transit: TransitServer
  let encryptor: VaultTransit
  let plain: Served
  let inside: Served

  before(async () => {
    transit = await TransitServer.start('secrets')
    encryptor = newVaultTransit(transit.addr, transit.token, 'secrets', { indexKey: INDEX_KEY })
    const operation = (specimens: Repository<Specimen>) => ({
      ...counting(specimens),
      weighSpecimen: async ({ id }: { id: string }) =>
        specimens.model.toMessage(await specimens.create(aSpecimen(id))) as never,
    })
    plain = await serveSpecimens(backend, operation, {}, Specimen, encryptor)
    inside = await serveSpecimens(
      backend,
      (specimens) => ({
        ...counting(specimens),
        createSpecimen: wrapped({ transaction: true }, async (request, call, standard) => {
          await inside.specimens.count({}, { context: call.context })
          return standard(request)
        }),
        updateSpecimen: wrapped({}, async (request, _call, standard) => standard(request)),
      }),
      (dataSource) => ({
        authorizer: byRow,
        idempotencyStore: new SqlIdempotencyStore(dataSource as never),
      }),
      Specimen,
      encryptor,
    )
    for (const { dataSource } of [plain, inside]) await applyBaseline(dataSource as never)
  })
  after(async () => {
    await plain?.stop()
    await inside?.stop()
    await encryptor?.close()
    await transit?.close()
  })

  const aSpecimen = (id: string) =>
    ({
      ...plain.specimens.model.create(),
      id,
      code: id,
      title: 'alice',
      webhookSecret: `whsec ${id}`,
    }) as Specimen
  const made = (more: object = {}) => {
    const id = fresh()
    const specimen = { title: 'alice', code: id, webhook_secret: `whsec ${id}` }
    return { specimen, specimen_id: id, ...more }
  }
  const stored = async ({ specimens }: Served) => (await specimens.create(aSpecimen(fresh()), IN_ACME)).id
  const change = (id: string, more: object = {}) => ({
    specimen: { id, webhook_secret: `another of ${id}` },
    update_mask: { paths: ['webhook_secret'] },
    ...more,
  })
  const again = () => ({ ...ALICE, 'idempotency-key': fresh() })

  type Path = (served: Served) => Promise<() => Promise<unknown>>
  const call =
    (
      method: string,
      request: (served: Served) => Promise<object> | object,
      headers = () => ({ ...ALICE }),
    ): Path =>
    async (served) => {
      const body = await request(served)
      return async () => {
        const { code, details } = await served.client.unary(method, body, headers())
        expect(code, details).to.equal(0)
      }
    }
  const validate = { validate_only: true }
  const batch = async (served: Served) => ({
    requests: [change(await stored(served)), change(await stored(served))],
  })
  const everywhere: readonly (readonly [name: string, path: Path])[] = [
    ['Create', call('CreateSpecimen', () => made())],
    ['Create with validate_only', call('CreateSpecimen', () => made(validate))],
    ['Create with a key of idempotency', call('CreateSpecimen', () => made(), again)],
    ['Update', call('UpdateSpecimen', async (served) => change(await stored(served)))],
    [
      'Update with validate_only',
      call('UpdateSpecimen', async (served) => change(await stored(served), validate)),
    ],
    [
      'Update with a key of idempotency',
      call('UpdateSpecimen', async (served) => change(await stored(served)), again),
    ],
    ['BatchUpdate', call('BatchUpdateSpecimens', batch)],
    ['BatchUpdate with a key of idempotency', call('BatchUpdateSpecimens', batch, again)],
  ]
  const ofRepositories: readonly (readonly [name: string, path: Path])[] = [
    [
      'create',
      async ({ specimens }) =>
        () =>
          specimens.create(aSpecimen(fresh()), IN_ACME),
    ],
    [
      'several creates at once',
      async ({ specimens }) =>
        () =>
          Promise.all([0, 1, 2, 3].map(() => specimens.create(aSpecimen(fresh()), IN_ACME))),
    ],
    [
      'update',
      async (served) => {
        const id = await stored(served)
        return () => served.specimens.update(id, { webhookSecret: 'x' } as never, ['webhook_secret'], IN_ACME)
      },
    ],
    [
      'batchUpdate',
      async (served) => {
        const id = await stored(served)
        const item = { key: id, entity: { webhookSecret: 'x' }, fieldMask: ['webhook_secret'] }
        return () => served.specimens.batchUpdate([item] as never, IN_ACME)
      },
    ],
    ['a method of the application', call('WeighSpecimen', () => ({ id: fresh() }))],
  ]

  const holdsNothing = (name: string, servedOf: () => Served, path: Path) =>
    it(`${name} holds no connection`, async () => {
      const served = servedOf()
      const run = await path(served)
      const { id } = await served.specimens.create(aSpecimen(fresh()), IN_ACME)
      const hung = transit.hold()
      const running = run()
      const settled = running.then(() => 'settled', String)
      try {
        let end = ''
        void settled.then((how) => (end = how))
        await until(() => hung.held > 0 || end !== '')
        expect(end).to.equal('')
        expect(executorOf(served.dataSource as never).use?.used ?? 0).to.equal(0)
        const { code, details } = await served.client.unary('GetSpecimen', { id }, ALICE)
        expect(code, details).to.equal(0)
      } finally {
        hung.letGo()
      }
      await running
    })

  describe('a server', () => {
    for (const [name, path] of everywhere) holdsNothing(name, () => plain, path)
  })
  describe('a server with decisions by row, wrapped methods and a store of responses in the database', () => {
    for (const [name, path] of everywhere) holdsNothing(name, () => inside, path)
  })
  describe('a repository', () => {
    for (const [name, path] of ofRepositories) holdsNothing(name, () => plain, path)
  })

  it('a transaction of the caller holds its connection, as the guide says', async () => {
    const { specimens, dataSource } = plain
    const hung = transit.hold()
    const running = specimens.transaction(async (context) => {
      await specimens.count({}, { context })
      await specimens.create(aSpecimen(fresh()), { context })
    }, IN_ACME)
    try {
      await until(() => hung.held > 0)
      expect(executorOf(dataSource as never).use?.used ?? 1).to.equal(1)
    } finally {
      hung.letGo()
    }
    await running
  })

  it('a repeated call gets its response without the server', async () => {
    const headers = again()
    const request = made()
    expect((await inside.client.unary('CreateSpecimen', request, headers)).code).to.equal(0)
    transit.isSealed = true
    try {
      const repeated = await inside.client.unary('CreateSpecimen', request, headers)
      expect(repeated.headers.get('x-idempotent-replay')).to.deep.equal(['true'])
    } finally {
      transit.isSealed = false
    }
  })

  it('converts the entities of a request once', async () => {
    const item = change(await stored(plain))
    for (const { client } of [plain, inside]) {
      converted = []
      await client.unary('CreateSpecimen', made(), again())
      expect(converted).to.have.length(1)
    }
    converted = []
    await plain.client.unary('UpdateSpecimen', item, ALICE)
    await plain.client.unary('BatchUpdateSpecimens', { requests: [item] }, again())
    expect(converted).to.have.length(2)
  })

  it('asks once for a call, and stores what it asked for', async () => {
    const request = made()
    transit.requests.length = 0
    await inside.client.unary('CreateSpecimen', request, again())
    expect(transit.requests).to.have.length(1)
    const rows: { cipher: string }[] = await (inside.dataSource as DataSource).query(
      `SELECT webhook_secret_cipher AS cipher FROM specimens WHERE id = '${request.specimen_id}'`,
    )
    expect(await encryptor.decrypt(rows[0]?.cipher ?? '')).to.equal(request.specimen.webhook_secret)
  })
})
