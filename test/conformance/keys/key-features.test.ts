import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import { ErrNotFound } from '../../../lib/errors.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import type { PartValue } from '../../../lib/resource/keys/key-part.js'
import { CredentialMinter } from '../../../lib/secrets/credential-minter.js'
import { newDev } from '../../../lib/secrets/dev-encryptor.js'
import type { Encryptor } from '../../../lib/secrets/encryptor.js'
import {
  type BackendName,
  backends,
  describeOn,
  type OpenBackend,
  openWithTables,
  pooled,
} from '../../support/databases/backends.js'
import { coalesceInGroups } from '../../support/databases/coalesced-calls.js'
import { drilling } from '../../support/drill.js'
import { rejection } from '../../support/rejection.js'
import { type Kept, told, VAULTS, type Vault } from './vaults.js'

const as = <T>(tenant: string, fn: () => Promise<T>): Promise<T> =>
  RequestContext.as({ tenant, subject: 'ada' }, fn)
const asAcme = <T>(fn: () => Promise<T>): Promise<T> => as('acme', fn)
const asSystem = <T>(fn: () => Promise<T>): Promise<T> =>
  RequestContext.asSystem({ reason: 'a test of keys' }, fn)

const DEV = [newDev(Buffer.alloc(32, 1)), newDev(Buffer.alloc(32, 2))] as const
const open = ({ dataSource }: OpenBackend, { Vault: entity }: Kept, encryptor: Encryptor) => {
  const options = { encryptor, minter: new CredentialMinter() }
  return dataSource === undefined
    ? new (memoryRepositoryOf(entity))(options)
    : new (repositoryOf(entity))(dataSource, options)
}

interface Tried {
  readonly kept: Kept
  readonly vaults: ReturnType<typeof open>
  /** Not in memory. */
  readonly searches: boolean
  /** Of the repository: what it does is replaced. */
  readonly encryptor: { -readonly [name in keyof Encryptor]: Encryptor[name] }
}

const idsOf = (items: readonly Vault[]): PartValue[] => items.map(({ id }) => id)

/**
 * What a resource can do, each with a row of each key of `acme`, and one of `umbrella` with the second key.
 */
const FEATURES: Readonly<Record<string, (tried: Tried) => Promise<void>>> = {
  async 'calls that share statements'({ kept: { keys, missing }, vaults }) {
    const end = coalesceInGroups()
    try {
      const all = Array.from({ length: 40 }, (_, at) => (at % 5 === 4 ? missing : keys[at % keys.length]))
      const read = await Promise.all(
        all.map((key) =>
          vaults.get(key as never).then(
            ({ id }) => id,
            (error: unknown) => {
              if (!(error instanceof ErrNotFound)) throw error
              return missing
            },
          ),
        ),
      )
      expect(read).to.deep.equal(all)
      const written = await Promise.all(
        keys.map((key) => vaults.update(key as never, { note: `of ${String(key)}` }, ['note'])),
      )
      expect(written.map(({ id, note }) => [id, note])).to.deep.equal(
        keys.map((key) => [key, `of ${String(key)}`]),
      )
      await Promise.all(keys.slice(1).map((key) => vaults.delete(key as never)))
      expect(idsOf((await vaults.list()).items)).to.deep.equal(keys.slice(0, 1))
    } finally {
      end()
    }
    await as('umbrella', async () =>
      expect(await vaults.get(keys[1] as never)).to.deep.include({ title: 'theirs', note: undefined }),
    )
  },

  async 'decisions by row'({ kept: { keys, missing }, vaults }) {
    const [first, second, ...rest] = keys as readonly [never, never]
    const others = { where: filter`NOT id = ${second}` }
    const after = { where: filter`id > ${second}` }
    expect(idsOf((await vaults.list({}, others)).items)).to.deep.equal([first, ...rest])
    expect(idsOf((await vaults.list({}, after)).items)).to.deep.equal(rest)
    expect(await vaults.count({}, after)).to.equal(rest.length)
    for (const key of [second, missing as never]) {
      await rejection(vaults.get(key, others), ErrNotFound)
      await rejection(vaults.update(key, { note: 'x' }, ['note'], others), ErrNotFound)
      await rejection(vaults.delete(key, others), ErrNotFound)
      await rejection(vaults.batchGet([first, key], others), ErrNotFound)
      await rejection(vaults.batchDelete([first, key], others), ErrNotFound)
      await rejection(vaults.remintApiKey(key, others), ErrNotFound)
    }
    expect(await vaults.update(first, { note: 'x' }, ['note'], others)).to.include({ note: 'x' })
    expect((await vaults.list()).items).to.have.length(keys.length)
  },

  async purge({ kept: { keys }, vaults }) {
    const [first, second, ...rest] = keys as readonly [never, never]
    const time = { outputOnly: true }
    for (const key of [second, first])
      await vaults.update(key, { expireTime: new Date('2020-01-01') }, ['expire_time'], time)
    await vaults.delete(second)
    expect(await vaults.purgeExpired(new Date('2021-01-01'))).to.equal(2)
    expect(idsOf((await vaults.list({ showDeleted: true })).items)).to.deep.equal(rest)
    await as('umbrella', async () => expect((await vaults.list()).items).to.have.length(1))
    expect(await vaults.create({ id: second, title: 'again' })).to.include({ id: second })
  },

  async hooks({ kept: { keys }, vaults }) {
    const [first, second] = keys as readonly [never, never]
    told.length = 0
    await vaults.update(second, { note: 'x' }, ['note'])
    await vaults.batchUpdate([{ key: first, entity: { note: 'x' }, fieldMask: ['note'] }])
    await vaults.delete(second)
    await vaults.undelete(second)
    await vaults.modify(second, () => ({ note: 'y' }))
    const heard = told.filter(([event]) => event !== 'AfterLoad')
    expect(heard).to.deep.equal([
      ...(['BeforeUpdate', 'AfterUpdate'] as const).map((event) => [event, second]),
      ...(['BeforeUpdate', 'AfterUpdate'] as const).map((event) => [event, first]),
      ...['BeforeSoftRemove', 'AfterSoftRemove', 'BeforeRecover', 'AfterRecover'].map((event) => [
        event,
        second,
      ]),
      ...(['BeforeUpdate', 'AfterUpdate'] as const).map((event) => [event, second]),
    ])
    told.length = 0
    expect(idsOf((await vaults.list()).items)).to.deep.equal(keys)
    expect(told.map(([, key]) => key)).to.deep.equal(keys)
  },

  async secrets({ kept: { keys }, vaults, encryptor }) {
    const second = keys[1] as never
    for (const key of keys) {
      expect(await vaults.revealPin(key as never)).to.equal(`pin of ${String(key)}`)
      const hash = await DEV[0].hash(`pin of ${String(key)}`)
      expect(await vaults.lookupByPinHash(hash)).to.include({ id: key })
    }
    const token = String(await vaults.remintApiKey(second))
    const verified = async () => {
      const told = await asSystem(() => vaults.verifyApiKey(token))
      return told.ok ? told.record.id : undefined
    }
    expect(await verified()).to.equal(second)
    await vaults.delete(second)
    expect(await verified()).to.equal(undefined)
    await vaults.undelete(second)
    encryptor.encrypt = DEV[1].encrypt
    const progress = await asSystem(() => vaults.rewrapSecrets({ batch: 2 }))
    expect(progress).to.deep.include({ rows: keys.length + 1, rewrapped: keys.length + 1, isDone: true })
    encryptor.decrypt = DEV[1].decrypt
    for (const key of keys) expect(await vaults.revealPin(key as never)).to.equal(`pin of ${String(key)}`)
  },

  async search({ kept: { keys }, vaults, searches }) {
    const found: PartValue[] = []
    let pageToken = ''
    do {
      const page = await vaults.list({ search: 'common', pageSize: 1, pageToken })
      found.push(...idsOf(page.items))
      pageToken = page.nextPageToken
    } while (pageToken !== '')
    expect(found).to.have.members(keys)
    expect(found).to.have.length(keys.length)
    expect((await vaults.list({ search: 'theirs' })).items).to.have.length(searches ? 0 : keys.length)
  },

  async 'transactions and locks'({ kept: { keys, missing }, vaults }) {
    const [first, second] = keys as readonly [never, never]
    await vaults.transaction(async () => {
      expect(await vaults.get(second, { lock: 'update' })).to.include({ id: second })
      await rejection(vaults.get(missing as never, { lock: 'update' }), ErrNotFound)
      const locked = await vaults.batchGet([second, first], { lock: 'update' })
      expect(idsOf(locked)).to.deep.equal([second, first])
      await vaults.update(first, { note: 'inside' }, ['note'])
    })
    await rejection(
      vaults.transaction(async () => {
        await vaults.delete(first)
        await vaults.create({ id: missing as never, title: 'gone' })
        throw new TypeError('back')
      }),
      TypeError,
    )
    expect(await vaults.get(first)).to.include({ note: 'inside' })
    await rejection(vaults.get(missing as never), ErrNotFound)
    expect(idsOf((await vaults.list({ orderBy: 'id desc' })).items)).to.deep.equal([...keys].reverse())
  },
}

const COUNT = Object.keys(FEATURES).length
const PLACES: Readonly<Partial<Record<BackendName, readonly number[]>>> = {
  ...{ memory: [0], sqlite: [1, 6], postgres: [2], mariadb: [3], mysql8: [4], pgbouncer: [5] },
}

/**
 * In `npm test` each pair of a type, a backend and a feature meets at least once; in the drill each three of
 * them do.
 */
const isAsked = (type: number, backend: BackendName, feature: number): boolean =>
  drilling || PLACES[backend]?.some((place) => (type + place + feature) % COUNT === 0) !== false

describeOn('features of keys', [...backends, ...pooled], (backend) => {
  const all = VAULTS.filter(({ isOf }) => isOf(backend.name))
  let opened: OpenBackend
  before(async () => {
    opened = await openWithTables(
      backend,
      all.map(({ Vault }) => Vault),
    )
  })
  after(() => opened?.close())

  for (const kept of all)
    for (const [at, [feature, run]] of Object.entries(FEATURES).entries())
      if (isAsked(VAULTS.indexOf(kept), backend.name, at))
        it(`supports ${feature} with ${kept.name} keys`, async () => {
          const encryptor = { ...DEV[0] }
          const vaults = open(opened, kept, {
            encrypt: (text) => encryptor.encrypt(text),
            decrypt: (text) => encryptor.decrypt(text),
            hash: (text) => encryptor.hash(text),
          })
          await opened.dataSource?.query(`DELETE FROM ${kept.table}`)
          const make = (id: PartValue, title: string) =>
            vaults.create({ id: id as never, title, pin: `pin of ${String(id)}` } as never)
          await as('umbrella', () => make(kept.keys[1] as PartValue, 'theirs'))
          await asAcme(async () => {
            for (const key of [...kept.keys].reverse()) await make(key, `a common vault ${String(key)}`)
            const searches = opened.dataSource !== undefined
            await run({ kept, vaults, searches, encryptor })
          })
        })
})
