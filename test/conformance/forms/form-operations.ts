import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import { ErrNotFound, ErrPreconditionFailed, InvalidArgument, PermissionDenied } from '../../../lib/errors.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import { rejection } from '../../support/rejection.js'
import type { Loose } from './form-entities.js'
import { type Choice, TENANTS } from './form-choices.js'
import { NOW, type Trial } from './open-forms.js'

/** Rows of the first tenant, by title. */
export interface Made {
  readonly first: Loose
  readonly second: Loose
  readonly third: Loose
  /** Of the other tenant. */
  readonly theirs: Loose
}

type Operation = (trial: Trial, made: Made) => Promise<void>

const LONG_AGO = new Date('2000-01-01T00:00:00Z')

const rows: Operation = async (trial, { first }) => {
  const { items, choice } = trial
  const isSetByTable = (item: Loose) => {
    const time = trial.of(item).updateTime as Date
    return choice.hasTrigger ? time.getFullYear() > 2020 : time.getTime() - NOW.getTime() < 1000
  }
  expect(trial.of(first)).to.deep.include({
    note: 'of first',
    count: 1,
    orgId: trial.values[0],
    createTime: NOW,
  })
  expect(isSetByTable(first), 'update_time').to.equal(true)
  const key = trial.keyOf(first)
  const read = await items.get(key)
  expect(trial.of(read)).to.deep.equal(trial.of(first))
  const { etag } = trial.of(first) as { etag: string }
  const patch = trial.to({ title: 'changed', count: 9 })
  const changed = await items.update(key, patch, ['title'], { ifMatch: etag })
  expect(trial.of(changed)).to.deep.include({ title: 'changed', count: 1, note: 'of first' })
  expect(isSetByTable(changed), 'update_time').to.equal(true)
  expect(trial.of(await items.get(key))).to.deep.equal(trial.of(changed))
  await rejection(items.update(key, patch, ['title'], { ifMatch: etag }), ErrPreconditionFailed)
  await rejection(items.delete(key, { ifMatch: etag }), ErrPreconditionFailed)
  const unknown = ['headline', 'org_id', 'orgId', 'memo', 'keeper', 'id']
  for (const name of unknown) await rejection(items.update(key, patch, [name]), InvalidArgument)
  const modified = await items.modify(key, (current) =>
    trial.to({ count: Number(trial.of(current).count) + 1 }),
  )
  expect(trial.of(modified)).to.deep.include({ title: 'changed', count: 2 })
}

const nulls: Operation = async (trial, { second, first }) => {
  const { items } = trial
  const [id, note, count] = [trial.column('id'), trial.column('note'), trial.column('count')]
  const key = trial.keyOf(second)
  const literal = typeof key === 'string' ? `'${key}'` : String(key)
  const where = `FROM ${items.model.table} WHERE ${id} = ${literal} AND ${note} IS NULL`
  await trial.query(
    `UPDATE ${items.model.table} SET ${note} = NULL, ${count} = NULL WHERE ${id} = ${literal}`,
  )
  expect(trial.of(await items.get(key))).to.deep.include({ note: '', count: 0 })
  const found = await items.list({ filter: 'count = 0 AND note = ""' })
  expect(trial.titles(found.items)).to.deep.equal(['second'])
  const [least] = (await items.list({ orderBy: 'count, title', pageSize: 1 })).items
  expect(trial.titles([least as Loose])).to.deep.equal(['second'])
  await items.update(key, trial.to({ title: 'kept' }), ['title'])
  expect(await trial.query(`SELECT * ${where}`)).to.have.length(1)
  await items.update(key, trial.to({ note: '' }), ['note'])
  expect(await trial.query(`SELECT * ${where}`)).to.have.length(0)
  expect(trial.of(await items.get(trial.keyOf(first)))).to.deep.include({ note: 'of first', count: 1 })
}

const lists: Operation = async (trial, { second }) => {
  const { items } = trial
  const titles = async (list: object, options?: object) =>
    trial.titles((await items.list(list, options)).items)
  expect(await titles({ orderBy: 'title desc' })).to.deep.equal(['third', 'second', 'first'])
  expect(await titles({ filter: 'title = "second"' })).to.deep.equal(['second'])
  expect(await titles({ filter: trial.is(second) })).to.deep.equal(['second'])
  expect(await titles({ filter: 'count > 1 AND NOT title = "third"' })).to.deep.equal(['second'])
  expect(await titles({ filter: 'create_time < "2002-01-01T00:00:00Z"', orderBy: 'count' })).to.deep.equal([
    ...['first', 'second', 'third'],
  ])
  for (const orderBy of ['count desc', 'create_time, title', 'note']) {
    const whole = await titles({ orderBy })
    const paged: unknown[] = []
    let pageToken = ''
    do {
      const page = await items.list({ orderBy, pageSize: 1, pageToken })
      paged.push(...trial.titles(page.items))
      pageToken = page.nextPageToken
    } while (pageToken !== '' && paged.length < 9)
    expect(paged, orderBy).to.deep.equal(whole)
  }
  expect(await items.count()).to.equal(3)
  expect(await items.exists({ filter: 'title = "theirs" OR title = "nobody"' })).to.equal(false)
  const others = { where: filter`NOT title = ${'second'}` }
  expect(await titles({ orderBy: 'title' }, others)).to.deep.equal(['first', 'third'])
  const key = trial.keyOf(second)
  await rejection(items.get(key, others), ErrNotFound)
  await rejection(items.update(key, trial.to({ title: 'x' }), ['title'], others), ErrNotFound)
  await rejection(items.delete(key, others), ErrNotFound)
  if (!trial.choice.searches || trial.dataSource === undefined) return
  expect(await titles({ search: 'second' })).to.deep.equal(['second'])
  expect(await titles({ search: 'theirs' })).to.deep.equal([])
}

const batches: Operation = async (trial, { first, second, third, theirs }) => {
  const { items } = trial
  const [one, two, three, foreign] = [first, second, third, theirs].map((item) => trial.keyOf(item)) as [
    ...[never, never, never, never],
  ]
  expect(trial.titles(await items.batchGet([two, one, two]))).to.deep.equal(['second', 'first', 'second'])
  expect(trial.titles(await items.batchGet([one, foreign], { allowMissing: true }))).to.deep.equal(['first'])
  await rejection(items.batchGet([one, foreign]), ErrNotFound)
  const item = (key: never, title: string) => ({ key, entity: trial.to({ title }), fieldMask: ['title'] })
  expect(trial.titles(await items.batchUpdate([item(two, 'b'), item(one, 'a')]))).to.deep.equal(['b', 'a'])
  await rejection(items.batchUpdate([item(one, 'x'), item(foreign, 'x')]), ErrNotFound)
  await rejection(items.batchDelete([one, foreign]), ErrNotFound)
  await items.batchDelete([three, two], trial.choice.children === 'restrict' ? { force: true } : {})
  expect(trial.titles((await items.list()).items)).to.deep.equal(['a'])
}

const deletion: Operation = async (trial, { first, second }) => {
  const { items, pieces, choice } = trial
  const [key, other] = [trial.keyOf(first), trial.keyOf(second)]
  const left = async () => ((await pieces?.list({ orderBy: 'id' }))?.items ?? []).map(({ id }) => id)
  const isSoft = choice.deletes === 'softly'
  if (choice.children === 'restrict') {
    await rejection(items.delete(key), ErrPreconditionFailed)
    expect(await left()).to.deep.equal(['p1', 'p2'])
  }
  await items.delete(key, choice.children === 'restrict' ? { force: true } : {})
  await rejection(items.get(key), ErrNotFound)
  expect(trial.titles((await items.list({ orderBy: 'title' })).items)).to.deep.equal(['second', 'third'])
  expect((await items.list({ showDeleted: true })).items).to.have.length(isSoft ? 3 : 2)
  if (pieces !== undefined) {
    const isUnset = choice.children === 'set null'
    expect(await left()).to.deep.equal(isUnset ? ['p1', 'p2'] : ['p2'])
    if (isUnset) expect((await pieces.get('p1')).itemId).to.equal(undefined)
    expect((await pieces.get('p2')).itemId).to.equal(other)
  }
  if (!isSoft) return void (await rejection(items.undelete(key), ErrNotFound))
  expect(trial.titles([await items.undelete(key)])).to.deep.equal(['first'])
  if (pieces !== undefined) expect(await left()).to.deep.equal(['p1', 'p2'])
  await rejection(items.undelete(key), ErrNotFound)
}

const purge: Operation = async (trial) => {
  const { items, pieces, choice } = trial
  const expired = await trial.make('expired', { expireTime: LONG_AGO })
  await trial.make('expires later', { expireTime: new Date('9000-01-01T00:00:00Z') })
  await trial.piece('pe', expired)
  const stays = choice.children === 'restrict'
  expect(await items.purgeExpired(NOW)).to.equal(stays ? 0 : 1)
  expect(await items.count()).to.equal(stays ? 5 : 4)
  if (pieces === undefined) return
  if (choice.children === 'cascade') await rejection(pieces.get('pe'), ErrNotFound)
  else expect((await pieces.get('pe')).itemId).to.equal(stays ? trial.keyOf(expired) : undefined)
}

const references: Operation = async (trial, { first, theirs }) => {
  const { items, pieces } = trial
  if (pieces === undefined) throw new TypeError('nothing refers to an item')
  for (const itemId of [trial.keyOf(theirs), trial.key(999)])
    await rejection(pieces.create({ id: 'px', itemId }), InvalidArgument, 'item_id')
  await rejection(
    pieces.update('p1', { itemId: trial.keyOf(theirs) }, ['item_id']),
    InvalidArgument,
    'item_id',
  )
  const through = { through: ['item'] as never }
  const found = await pieces.list({ filter: 'item.title = "first"', orderBy: 'item.title desc' }, through)
  expect(found.items.map(({ id }) => id)).to.deep.equal(['p1'])
  const together = await pieces.get('p1', { with: ['item'] as never })
  expect(trial.titles([together.item as Loose])).to.deep.equal(['first'])
  const whole = await items.get(trial.keyOf(first), { with: ['pieces'] as never })
  expect((whole.pieces as Loose[]).map(({ id }) => id)).to.deep.equal(['p1'])
}

const events: Operation = async (trial, { first, second }) => {
  const { items, choice, dataSource } = trial
  const told = async (): Promise<readonly (readonly [tenant: unknown, payload: string])[]> =>
    dataSource === undefined
      ? [...trial.memory.outbox.events.values()].map(({ accountId, payload }) => [accountId, String(payload)])
      : (await trial.query('SELECT account_id, payload FROM outbox')).map(
          ({ account_id: tenant, payload }) => [tenant, String(payload)],
        )
  const ours = (all: Awaited<ReturnType<typeof told>>) =>
    all.filter(([tenant]) => tenant === trial.tenants[0])
  const before = await told()
  const key = trial.keyOf(first)
  await items.update(key, trial.to({ title: 'told' }), ['title'])
  await items.batchUpdate([
    { key: trial.keyOf(second), entity: trial.to({ count: 7 }), fieldMask: ['count'] },
  ])
  await items.delete(trial.keyOf(second), choice.children === 'restrict' ? { force: true } : {})
  const after = await told()
  expect([after.length, ours(after).length]).to.deep.equal([before.length + 3, ours(before).length + 3])
  const telling = (all: typeof after, text: RegExp) => all.filter(([, payload]) => text.test(payload)).length
  expect(telling(after, /"told"/)).to.equal(telling(before, /"told"/) + 1)
  expect(telling(after, /pin of|memo|keeper/)).to.equal(0)
}

/** What a repository has for secrets and credentials, by the names of their properties. */
type Secretive = Readonly<Record<string, (...operands: unknown[]) => Promise<unknown>>>

const secrets: Operation = async (trial, { first, theirs }) => {
  const called = (property: string) => `${property.charAt(0).toUpperCase()}${property.slice(1)}`
  const [pin, token] = [called(trial.formed.propertyOf('pin')), called(trial.formed.propertyOf('apiKey'))]
  const items = trial.items as unknown as Secretive
  const [key, foreign] = [trial.keyOf(first), trial.keyOf(theirs)]
  expect(await items[`reveal${pin}`]?.(key)).to.equal('pin of first')
  const hashes = await Promise.all(['first', 'theirs'].map((of) => trial.encryptor.hash(`pin of ${of}`)))
  expect(trial.titles([(await items[`lookupBy${pin}Hash`]?.(hashes[0])) as Loose])).to.deep.equal(['first'])
  await rejection(items[`lookupBy${pin}Hash`]?.(hashes[1]) ?? Promise.resolve(), ErrNotFound)
  for (const name of [`reveal${pin}`, `remint${token}`])
    await rejection(items[name]?.(foreign) ?? Promise.resolve(), ErrNotFound)
  const minted = await items[`remint${token}`]?.(key)
  const verified = await RequestContext.asSystem({ reason: 'a test of forms' }, () =>
    Promise.resolve(items[`verify${token}`]?.(String(minted))),
  )
  expect(verified).to.include({ ok: true })
  expect(JSON.stringify(await items.list?.(), shown)).to.not.include('pin of')
}

const isolation: Operation = async (trial, { first, second }) => {
  const { items } = trial
  const [one, two] = [trial.keyOf(first), trial.keyOf(second)] as [never, never]
  const patch = trial.to({ title: 'taken' })
  for (const tenant of [trial.tenants[1], ...TENANTS[trial.choice.tenant].wrong])
    await trial.as(tenant, async () => {
      await rejection(items.get(one), ErrNotFound)
      await rejection(items.update(one, patch, ['title']), ErrNotFound)
      await rejection(
        items.modify(one, () => patch),
        ErrNotFound,
      )
      await rejection(items.delete(one), ErrNotFound)
      await rejection(items.undelete(one), ErrNotFound)
      await rejection(items.batchGet([one, two]), ErrNotFound)
      await rejection(items.batchDelete([one]), ErrNotFound)
      expect(await items.batchGet([one, two], { allowMissing: true })).to.deep.equal([])
      const { items: listed } = await items.list({ showDeleted: true, filter: 'count >= 0' })
      expect(trial.titles(listed)).to.deep.equal(tenant === trial.tenants[1] ? ['theirs'] : [])
      if (tenant === trial.tenants[1] || trial.choice.tenant === 'text') return
      await rejection(trial.make('nowhere'), PermissionDenied)
    })
  expect(trial.titles((await items.list({ orderBy: 'title' })).items)).to.deep.equal([
    'first',
    'second',
    'third',
  ])
}

const crowds: Operation = async (trial, { first, second, theirs }) => {
  const { items } = trial
  const all = Array.from({ length: 24 }, (_, at) => [first, second, theirs][at % 3] as Loose)
  const by = (item: Loose) => trial.tenants[item === theirs ? 1 : 0]
  const read = await Promise.all(all.map((item) => trial.as(by(item), () => items.get(trial.keyOf(item)))))
  expect(trial.titles(read)).to.deep.equal(trial.titles(all))
  const stranger = (item: Loose) => trial.tenants[item === theirs ? 0 : 1]
  const foreign = await Promise.allSettled(
    all.map((item) => trial.as(stranger(item), () => items.get(trial.keyOf(item)))),
  )
  for (const one of foreign) expect(one).to.have.property('reason').that.is.instanceOf(ErrNotFound)
  const written = await Promise.all(
    [first, second].map((item, n) =>
      items.update(trial.keyOf(item), trial.to({ title: `crowd ${n}` }), ['title']),
    ),
  )
  expect(trial.titles(written)).to.deep.equal(['crowd 0', 'crowd 1'])
}

const internals: Operation = async (trial, { first }) => {
  const { items, dataSource, formed } = trial
  const memo = dataSource?.getMetadata(formed.Item).findColumnWithPropertyName('memo')?.databaseName ?? ''
  const held = async () =>
    (await trial.query(`SELECT ${trial.quoted(memo)} AS memo FROM ${items.model.table} ORDER BY memo`)).map(
      (row) => row.memo,
    )
  const rows = (await held()).length
  expect(await held()).to.deep.equal(Array(rows).fill('none'))
  const key = trial.keyOf(first)
  const literal = typeof key === 'string' ? `'${key}'` : String(key)
  await trial.query(
    `UPDATE ${items.model.table} SET ${trial.quoted(memo)} = 'kept' WHERE ${trial.column('id')} = ${literal}`,
  )
  await items.update(key, trial.to({ title: 'x', note: 'y' }), ['title', 'note'])
  await items.modify(key, () => trial.to({ count: 8 }))
  expect((await held()).slice(0, 2)).to.deep.equal(['kept', 'none'])
  await rejection(items.list({ filter: 'memo = "kept"' }), InvalidArgument)
}

const shown = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)

type Needs = (choice: Choice, isMemory: boolean) => boolean

/** Where there is something to ask; everywhere where nothing is said. */
const NEEDS: Readonly<Record<string, Needs>> = {
  nulls: ({ hasNulls }, isMemory) => hasNulls && !isMemory,
  references: ({ children }) => children !== 'none',
  events: ({ emits }) => emits,
  secrets: ({ hasSecrets }) => hasSecrets,
  internals: ({ hasInternals }, isMemory) => hasInternals && !isMemory,
}

/** What is asked of the repository of each resource, with three rows of its own and one of another tenant. */
const OPERATIONS: Readonly<Record<string, Operation>> = {
  ...{ rows, nulls, lists, batches, deletion, purge, references, events, secrets, isolation, crowds },
  internals,
}

/** What is asked of a resource of that choice. */
export const operationsOn = (choice: Choice, isMemory: boolean): readonly (readonly [string, Operation])[] =>
  Object.entries(OPERATIONS).filter(([name]) => NEEDS[name]?.(choice, isMemory) !== false)
