import { expect } from 'chai'
import { ErrNotFound, InvalidArgument } from '../../../lib/errors.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { rejection } from '../../support/rejection.js'
import { inAcme, openTasks, type OpenTasks, type Task, taskIn } from './free-form-resource.js'

const Tasks = taskIn('free_tasks')

const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) })

const SETTINGS: readonly (readonly [id: string, settings: object | undefined])[] = [
  [
    'a',
    {
      theme: 'dark',
      size: 3,
      on: true,
      nothing: null,
      'a.b "c\\': 'odd',
      深: { er: { eleven: 11 } },
      list: ['dark', { theme: 'dark' }],
    },
  ],
  ['b', { theme: 'Dark ', size: '3', on: 'true', nested: { theme: 'light', ratio: 0.1 } }],
  ['c', { theme: 7, size: -1.5e300, on: false, nested: 'theme', __proto: 1, '0': 'zero' }],
  ['d', {}],
  ['e', undefined],
]

/** The filter, and the ids that it finds. */
const FOUND: readonly (readonly [string, string])[] = [
  ['settings.theme = "dark"', 'a'],
  ['settings.theme = "Dark "', 'b'],
  ['settings.theme != "dark"', 'b'],
  ['settings.theme = 7', 'c'],
  ['settings.theme:"ark"', 'ab'],
  ['settings.theme > "Dark"', 'ab'],
  ['settings.size = 3', 'a'],
  ['settings.size = 3.0', 'a'],
  ['settings.size < 3', 'c'],
  ['settings.size = -1.5e300', 'c'],
  ['settings.size = "3"', 'b'],
  ['settings.on = true', 'a'],
  ['settings.on = false', 'c'],
  ['settings.on = "true"', 'b'],
  ['settings.theme:*', 'abc'],
  ['NOT settings.theme:*', 'de'],
  ['settings.theme = null', 'de'],
  ['settings.nothing:*', ''],
  ['settings.list:*', 'a'],
  ['settings.list.theme:*', ''],
  ['settings.list."0":*', ''],
  ['settings.0 = "zero"', 'c'],
  ['settings."a.b \\"c\\\\" = "odd"', 'a'],
  ['settings.深.er.eleven = 11', 'a'],
  ['settings.nested.theme = "light"', 'b'],
  ['settings.nested.ratio = 0.1', 'b'],
  ['settings.nested:*', 'bc'],
  ['settings:*', 'abcd'],
  ['settings = null', 'e'],
  ['settings.theme = "dark" OR settings.nested.theme = "light"', 'ab'],
  ['settings."x\' OR 1=1 --" = "x"', ''],
  ['extra = "text"', 'a'],
  ['extra = 5', 'b'],
  ['extra = true', 'c'],
  ['extra:*', 'abcd'],
  ['extra.deep = "x"', 'd'],
  ['steps:*', 'a'],
  ['-steps:*', 'bcde'],
]

const EXTRA: Readonly<Record<string, unknown>> = { a: 'text', b: 5, c: true, d: { deep: 'x' } }

const REFUSED: readonly (readonly [string, RegExp])[] = [
  ['settings = "dark"', /is compared by its keys, as in settings\.key/],
  ['steps = "x"', /is compared by its keys/],
  ['settings.theme = dark', /takes a string in double quotes, a number, true, false or null/],
  ['settings.on > true', /only be compared with = and !=/],
  ['settings.theme < null', /only be compared with = and !=/],
  ['settings.theme = 007', /takes a number/],
  ['settings.a.b.c.d.e.f.g.h = 1', /deeper than 8 levels/],
  ['settings."-a" = 1', /begins with "-"/],
  ['settings:5', /is for strings, lists and tags/],
]

describeOn('free-form JSON', backends, (backend) => {
  let open: OpenTasks
  let tasks: OpenTasks['tasks']

  before(async () => {
    open = await openTasks(backend, Tasks)
    ;({ tasks } = open)
    await inAcme(async () => {
      for (const [id, settings] of SETTINGS)
        await tasks.create({
          id,
          title: id,
          ...(settings !== undefined && { settings }),
          extra: EXTRA[id],
          ...(id === 'a' && { steps: [1, 'two', [null]] }),
        })
    })
  })
  after(() => open?.close())

  it('is written and read as it is', () =>
    inAcme(async () => {
      const { items } = await tasks.list({ orderBy: 'id' })
      expect(items.map(({ settings }) => settings)).to.deep.equal(SETTINGS.map(([, settings]) => settings))
      expect(items.map(({ extra }) => extra)).to.deep.equal([...Object.values(EXTRA), undefined])
      expect((await tasks.get('a')).steps).to.deep.equal([1, 'two', [null]])
    }))

  for (const [filter, ids] of FOUND)
    it(`is found by ${filter}`, () =>
      inAcme(async () => {
        const { items } = await tasks.list({ filter, orderBy: 'id' })
        expect(items.map(({ id }) => id).join('')).to.equal(ids)
      }))

  it('rejects a filter that compares it otherwise', () =>
    inAcme(async () => {
      for (const [filter, why] of REFUSED)
        expect((await rejection(tasks.list({ filter }), InvalidArgument)).message, filter).to.match(why)
      expect((await rejection(tasks.list({ orderBy: 'settings.theme' }), InvalidArgument)).field).to.equal(
        'order_by',
      )
    }))

  it('is updated as a whole and by a mask', () =>
    inAcme(async () => {
      const id = 'u'
      await tasks.create({ id, title: 't', settings: { a: 1 }, extra: 1 })
      expect((await tasks.update(id, { settings: { b: [2] } }, ['settings'])).settings).to.deep.equal({
        b: [2],
      })
      const whole = await tasks.update(id, { title: 'u', settings: { c: 'é😀' } } as Task, ['*'])
      expect([whole.settings, whole.extra]).to.deep.equal([{ c: 'é😀' }, undefined])
      expect((await tasks.update(id, {}, ['settings'])).settings).to.equal(undefined)
      await tasks.delete(id)
    }))

  it('rejects what is not JSON, too deep or too large', () =>
    inAcme(async () => {
      const deepest = nested(31) as object
      await tasks.create({ id: 'deep', title: 't', settings: deepest })
      expect((await tasks.get('deep')).settings).to.deep.equal(deepest)
      await tasks.delete('deep')
      for (const settings of [
        nested(32),
        [],
        'x',
        { a: 'x'.repeat(2 ** 20) },
        { a: Number.NaN },
        { a: 1n },
        { a: '\0' },
        { '\uD800': 1 },
      ])
        expect(
          (await rejection(tasks.create({ id: 'x', title: 't', settings } as Task), InvalidArgument)).field,
        ).to.equal('settings')
      await rejection(tasks.create({ id: 'x', title: 't', steps: {} } as never), InvalidArgument)
    }))

  it('is updated inside by a mask, alone and in a batch', () =>
    inAcme(async () => {
      const first = { theme: 'dark', deep: { a: 1, b: [1] }, 'x.y': 1 }
      for (const id of ['m', 'n']) await tasks.create({ id, title: 't', settings: first, extra: 'text' })
      const write = async (settings: object | undefined, ...mask: string[]) =>
        (await tasks.update('m', { settings } as Partial<Task>, mask as never)).settings
      expect(await write({ theme: 'light', deep: { a: 2 } }, 'settings.theme')).to.deep.equal({
        ...first,
        theme: 'light',
      })
      expect(await write({ deep: { c: { d: null } } }, 'settings.deep.c.d', 'settings.deep.a')).to.deep.equal(
        {
          theme: 'light',
          deep: { b: [1], c: { d: null } },
          'x.y': 1,
        },
      )
      expect(await write(undefined, 'settings.deep', 'settings.theme')).to.deep.equal({ 'x.y': 1 })
      expect(await write({ 'x.y': 2 }, 'settings.`x.y`', 'title')).to.deep.equal({ 'x.y': 2 })
      expect(await write({ theme: 'x' }, 'settings')).to.deep.equal({ theme: 'x' })
      expect(await write({ theme: { a: true } }, 'settings.theme.a')).to.deep.equal({ theme: { a: true } })
      const extra = await tasks.update('m', { extra: { a: 1 } }, ['extra.a'] as never)
      expect(extra.extra).to.deep.equal({ a: 1 })
      const changes = ['m', 'n'].map((key) => ({
        key,
        entity: { settings: { theme: key } },
        fieldMask: ['settings.theme'],
      }))
      const changed = await tasks.batchUpdate(changes as never)
      expect(changed.map(({ settings }) => settings)).to.deep.equal([
        { theme: 'm' },
        { ...first, theme: 'n' },
      ])
      for (const mask of [
        ['settings.a', 'settings'],
        ['settings.a', 'settings.a.b'],
        ['steps.0'],
        ['title.a'],
      ])
        expect((await rejection(write({}, ...mask), InvalidArgument)).field).to.equal('update_mask')
      await rejection(tasks.update('none', { settings: { a: 1 } }, ['settings.a'] as never), ErrNotFound)
      for (const id of ['m', 'n']) await tasks.delete(id)
    }))

  if (backend.name !== 'memory')
    it('stays if another program stored JSON of another shape, and a full update leaves it unset', () =>
      inAcme(async () => {
        const stored = async () => {
          const [row] = await open.dataSource!.query<{ settings: unknown; steps: unknown }[]>(
            "SELECT settings, steps FROM free_tasks WHERE id = 'k'",
          )
          const json = (value: unknown): unknown =>
            typeof value === 'string' && /^[[{"]/.test(value) ? JSON.parse(value) : value
          return [json(row?.settings), json(row?.steps)]
        }
        const put = () =>
          open.dataSource!.query(`UPDATE free_tasks SET settings = '[1]', steps = '{"a": 1}' WHERE id = 'k'`)
        await tasks.create({ id: 'k', title: 't' })
        await put()
        const read = await tasks.get('k')
        expect([read.settings, read.steps]).to.deep.equal([undefined, undefined])
        for (const mask of [undefined, ['*']] as const) {
          expect((await tasks.update('k', read, mask)).settings).to.equal(undefined)
          expect(await stored()).to.deep.equal([[1], { a: 1 }])
        }
        const whole = { key: 'k', entity: read, fieldMask: ['*'] }
        await tasks.batchUpdate([whole] as never)
        expect(await stored()).to.deep.equal([[1], { a: 1 }])
        await tasks.update('k', Object.assign(read, { settings: { a: 1 } }))
        expect(await stored()).to.deep.equal([{ a: 1 }, { a: 1 }])
        await tasks.update('k', Object.assign(read, { settings: undefined }) as Task)
        expect(await stored()).to.deep.equal([null, { a: 1 }])
        await tasks.update('k', {}, ['steps'])
        expect(await stored()).to.deep.equal([null, null])
        await put()
        expect(
          (await tasks.update('k', { settings: { b: 2 } }, ['settings.b'] as never)).settings,
        ).to.deep.equal({
          b: 2,
        })
        await tasks.delete('k')
      }))

  if (backend.name !== 'memory')
    it('is unset if another program stored JSON of another shape', () =>
      inAcme(async () => {
        const { dataSource } = open
        await tasks.create({ id: 'o', title: 't' })
        for (const [stored, settings, extra] of [
          ['[1, "x"]', undefined, [1, 'x']],
          ['"text"', undefined, 'text'],
          ['null', undefined, undefined],
          ['{"a": {"b": 1.50}}', { a: { b: 1.5 } }, { a: { b: 1.5 } }],
          [JSON.stringify(nested(40)), undefined, undefined],
        ] as const) {
          const isTooDeep = stored.length > 100 && ['mariadb', 'mysql8'].includes(backend.name)
          if (isTooDeep) continue
          await dataSource!.query(
            `UPDATE free_tasks SET settings = '${stored}', extra = '${stored}' WHERE id = 'o'`,
          )
          const read = await tasks.get('o')
          expect([read.settings, read.extra]).to.deep.equal([settings, extra])
          for (const [filter, isFound] of [
            ['settings:*', settings !== undefined],
            ['settings = null', settings === undefined],
            ['settings.a:*', settings !== undefined],
          ] as const)
            if (stored.length < 100)
              expect(
                (await tasks.list({ filter: `id = "o" AND ${filter}` })).items,
                `${filter} ${stored}`,
              ).to.have.length(Number(isFound))
        }
        await tasks.delete('o')
      }))
})
