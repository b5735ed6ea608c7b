import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { RequestContext } from '../../../lib/context.js'
import { MemoryDatabase } from '../../../lib/persistence/memory/memory-database.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { backends, describeOn, coalesced } from '../../support/databases/backends.js'
import { collated } from '../repository/open-subject.js'
import { Haul, Quarried } from './existing-entities.js'

const asAcme = <T>(fn: () => Promise<T>): Promise<T> =>
  RequestContext.as({ tenant: 'acme', subject: 'ada' }, fn)

/** A value of each field that is more than its zero. */
const FULL = {
  title: 'granite',
  active: true,
  count: 3,
  weight: 4,
  big: 5n,
  huge: 6n,
  ratio: 0.5,
  score: 1.5,
  blob: new Uint8Array([1]),
  phase: 2,
  labels: ['hard'],
  tags: { k: 'v' },
  code: 'c1',
}
const NAMES = ['null a', 'zero b', 'null c', 'full d', 'zero e', 'null f', 'full g']

describeOn('NULL in existing tables', [...backends, ...coalesced], (backend) => {
  const model = resourceModel(Quarried)
  const zeros = model.fields.filter(({ nullIsZero }) => nullIsZero === true)
  const ordered = zeros.filter(({ filterable, json }) => filterable && json === undefined)
  let close: () => Promise<void>
  let dataSource: DataSource | undefined
  let quarried: InstanceType<ReturnType<typeof repositoryOf<Quarried>>>
  let hauls: InstanceType<ReturnType<typeof repositoryOf<Haul>>>

  const query = async (text: string): Promise<Record<string, unknown>[]> =>
    (await dataSource?.query<Record<string, unknown>[]>(text)) ?? []

  before(async () => {
    const opened = await backend.open([Quarried, Haul])
    ;({ close, dataSource } = opened)
    const { database } = opened
    if (dataSource === undefined || database === undefined) {
      const shared = { database: new MemoryDatabase() }
      quarried = new (memoryRepositoryOf(Quarried))(shared) as never
      hauls = new (memoryRepositoryOf(Haul))(shared) as never
    } else {
      await createTables(collated(dataSource, backend), [Quarried, Haul], database.dialect.name)
      quarried = new (repositoryOf(Quarried))(dataSource)
      hauls = new (repositoryOf(Haul))(dataSource)
    }
    await asAcme(async () => {
      for (const id of NAMES) {
        const values = id.startsWith('full') ? { ...FULL, code: id } : {}
        await quarried.create({ id, ...values })
        await hauls.create({ id, quarriedId: id })
      }
      await hauls.create({ id: 'zz', quarriedId: undefined as never })
    })
    const quote = (name: string) => database?.dialect.text.quote(name) ?? name
    const sets = zeros.map(({ column }) => `${quote(column)} = NULL`).join(', ')
    await query(`UPDATE quarried SET ${sets} WHERE id LIKE 'null%'`)
  })
  after(() => close())

  it('occurs in every kind of field without presence', () => {
    expect(zeros.map(({ proto }) => proto)).to.have.members([
      ...['title', 'active', 'count', 'weight', 'big', 'huge', 'ratio', 'score', 'blob', 'phase'],
      ...['labels', 'tags', 'code', 'serial', 'webhook_secret', 'api_key'],
    ])
  })

  it('reads as the zero value, alone and in a list', () =>
    asAcme(async () => {
      const { id: _, etag: _e, createTime: _c, updateTime: _u, ...zero } = await quarried.get('zero b')
      const { items } = await quarried.list({})
      const batch = await quarried.batchGet(['null a', 'null c'])
      for (const one of [await quarried.get('null a'), ...items, ...batch])
        if (one.id.startsWith('null')) expect(one).to.deep.include(zero)
    }))

  for (const name of ['title', 'active', 'count', 'weight', 'big', 'huge', 'ratio', 'score', 'phase', 'code'])
    it(`is compared as the zero value: ${name}`, () =>
      asAcme(async () => {
        const field = ordered.find(({ proto }) => proto === name)
        const [zero, full] =
          name === 'active'
            ? ['false', 'true']
            : name === 'phase'
              ? ['PHASE_UNSPECIFIED', 'CUT']
              : typeof FULL[name as keyof typeof FULL] === 'string'
                ? ['""', name === 'code' ? '"full d"' : '"granite"']
                : ['0', String(FULL[name as keyof typeof FULL])]
        const found = async (filter: string) =>
          (await quarried.list({ filter })).items.map(({ id }) => id).sort()
        const empty = NAMES.filter((id) => !id.startsWith('full')).sort()
        const all = [...NAMES].sort()
        expect(field).not.to.equal(undefined)
        expect(await found(`${name} = ${zero}`)).to.deep.equal(empty)
        expect(await found(`NOT ${name} = ${zero}`)).to.deep.equal(all.filter((id) => !empty.includes(id)))
        expect(await found(`${name} != ${full}`)).to.include.members(empty)
        expect(await found(`NOT ${name} = ${full}`)).to.include.members(empty)
        expect(await found(`${name} = ${full}`)).not.to.include.members(empty)
        if (name === 'active' || name === 'phase') return
        expect(await found(`${name} < ${full}`)).to.include.members(empty)
        expect(await found(`${name} <= ${zero}`)).to.deep.equal(empty)
        expect(await found(`${name} >= ${zero}`)).to.deep.equal(all)
      }))

  for (const { proto, property } of ordered)
    for (const direction of ['', ' desc'])
      it(`lists every row once, sorted by ${proto}${direction}`, () =>
        asAcme(async () => {
          const read = async (pageSize: number) => {
            const found: Quarried[] = []
            let pageToken = ''
            do {
              const page = await quarried.list({ orderBy: `${proto}${direction}`, pageSize, pageToken })
              found.push(...page.items)
              pageToken = page.nextPageToken
            } while (pageToken !== '' && found.length < 20)
            return found
          }
          const whole = await read(100)
          const names = whole.map(({ id }) => id)
          expect([...names].sort()).to.deep.equal([...NAMES].sort())
          // Those with the zero are side by side, in the order of their keys.
          const sorted = names.filter((id) => proto === 'serial' || !id.startsWith('full')).sort()
          const empty = direction === '' ? sorted : sorted.reverse()
          const first = names.indexOf(empty[0] as string)
          expect(names.slice(first, first + empty.length)).to.deep.equal(empty)
          expect((await read(2)).map(({ id }) => id)).to.deep.equal(names)
          expect(whole.map((one) => one[property as 'title'])).to.have.length(7)
        }))

  it('is compared and ordered as the zero value of a row that another refers to, and is not a value where there is none', () =>
    asAcme(async () => {
      const through = { through: ['quarried'] as const }
      const { items } = await hauls.list({ filter: 'quarried.count = 0' }, through)
      expect(items.map(({ id }) => id)).to.deep.equal(NAMES.filter((id) => !id.startsWith('full')).sort())
      const found: string[] = []
      let pageToken = ''
      do {
        const page = await hauls.list({ orderBy: 'quarried.title desc', pageSize: 2, pageToken }, through)
        found.push(...page.items.map(({ id }) => id))
        pageToken = page.nextPageToken
      } while (pageToken !== '' && found.length < 20)
      // NULL first.
      expect(found).to.deep.equal([
        'zz',
        'full g',
        'full d',
        'zero e',
        'zero b',
        'null f',
        'null c',
        'null a',
      ])
      const [first] = (await hauls.list({ with: ['quarried'] })).items.filter(({ id }) => id === 'null a')
      expect(first?.quarried).to.include({ count: 0, title: '', phase: 0, active: false })
    }))

  it('stays through a write of other fields, and becomes the zero through one of the field', () =>
    asAcme(async () => {
      if (dataSource === undefined) return
      const before = await quarried.get('null f')
      expect((await quarried.get('null f')).etag).to.equal(before.etag)
      const masked = await quarried.update('null f', { note: 'seen' }, ['note'], { ifMatch: before.etag })
      expect(masked).to.deep.include({ count: 0, note: 'seen', tags: {} })
      const held = async () =>
        Number(
          (await query("SELECT COUNT(*) AS n FROM quarried WHERE id = 'null f' AND title IS NULL"))[0]?.n,
        )
      expect(await held()).to.equal(1)
      await quarried.update('null f', { title: '' }, ['title'])
      expect(await held()).to.equal(0)
      await quarried.update('null f', await quarried.get('null f'))
      const holding = zeros.map(({ column }) => `${column} IS NULL`)
      const [row] = await query(
        `SELECT COUNT(*) AS n FROM quarried WHERE id = 'null f' AND (${holding
          .filter((one) => !/^(serial|webhook_secret|api_key|count|blob)/.test(one))
          .join(' OR ')})`,
      )
      expect(Number(row?.n)).to.equal(0)
    }))
})
