import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { ErrNotFound, InvalidArgument } from '../../../lib/errors.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import type { Row } from './row.js'
import { snakeCase } from '../../../lib/text/snake-case.js'
import type { Engine } from '../properties/property-kinds.js'
import { rejection } from '../../support/rejection.js'
import { type Beside, type DeclaredRow, type Item, TEXT } from './declared-row.js'

/** A row of the table with its repository, while it is used. */
export interface Lives extends DeclaredRow {
  readonly items: Repository<Item>
  readonly dataSource: DataSource
  readonly engine: Engine
  readonly isExisting: boolean
  readonly beside: Beside
}

type Id = string

/** Every operation of a repository and of TypeORM's manager on the same rows. */
export async function live(lives: Lives): Promise<void> {
  const { row, items } = lives
  if (row.isRemoved !== true) await writtenByAshlar(lives)
  if (row.isRemoved !== true) await writtenByBoth(lives)
  await deleted(lives)
  await row.shows?.(lives)
  if (row.outcome !== 'left to TypeORM') await emitted(lives)
  expect((await items.list()).nextPageToken).to.equal('')
}

const isSame = (lives: Lives, item: Item, expected: unknown): void => {
  if (lives.row.values !== undefined) expect(item[lives.property] ?? undefined).to.deep.equal(expected)
}

const given = ({ row, property }: Lives, id: string, value?: unknown): Partial<Item> => ({
  ...(isGenerated(row) ? {} : { id }),
  title: 't',
  ...(row.values !== undefined && row.outcome !== 'left to TypeORM' && { [property]: value }),
})

/** In a table of Ashlar's, the repository generates a UUID. */
const isGenerated = (row: Row): boolean => row.replaces === 'key' && row.keyField !== undefined

const isOfCode = ({ row }: Lives): boolean => row.values !== undefined && row.outcome !== 'left to TypeORM'

/** The values of a row, over and over. */
const valueAt = ({ row: { values = [] } }: Lives, at: number): unknown => values[at % values.length]

async function writtenByAshlar(lives: Lives): Promise<void> {
  const { row, items, property, message } = lives
  const made = await items.create(given(lives, 'a', valueAt(lives, 0)))
  const { id } = made
  if (isOfCode(lives)) {
    const first = 'created' in row ? row.created : valueAt(lives, 0)
    isSame(lives, made, first)
    isSame(lives, await items.get(id), first)
    isSame(lives, (await items.list({ filter: 'title = "t"' })).items[0] as Item, first)
    isSame(lives, await items.update(id, { title: 'u' }, ['title']), first)
    const mask = [row.field === undefined ? property : snakeCase(property)]
    const ofCode = { outputOnly: row.field === undefined }
    const held = row.isFixed === true ? first : valueAt(lives, 1)
    if (row.isFixed === true)
      await rejection(items.update(id, { [property]: valueAt(lives, 1) }, mask), InvalidArgument)
    else isSame(lives, await items.update(id, { [property]: held }, mask, ofCode), held)
    const isKept = row.isFixed === true || row.field === undefined
    const whole = isKept ? held : valueAt(lives, 0)
    isSame(lives, await items.update(id, { id, title: 'v', [property]: whole }), whole)
    if (row.field !== undefined) {
      const { fromMessage, toMessage } = resourceModel(lives.entity)
      const sent = toMessage(await items.get(id))
      expect(message.typeName).to.equal((sent as { readonly $typeName: string }).$typeName)
      isSame(lives, fromMessage(sent as never), whole)
    }
    const changes = { key: id, entity: { [property]: valueAt(lives, 4) }, fieldMask: mask }
    const batch = () => items.batchUpdate([changes], ofCode)
    if (row.isFixed !== true) isSame(lives, (await batch())[0] as Item, valueAt(lives, 4))
  } else {
    expect((await items.get(id)).title).to.equal('t')
    expect((await items.list({ filter: 'title = "t"' })).items.map((one) => one.id)).to.deep.equal([id])
    expect((await items.update(id, { title: 'u' }, ['title'])).title).to.equal('u')
    expect((await items.update(id, { id, title: 'v' })).title).to.equal('v')
    const changes = { key: id, entity: { title: 'w' }, fieldMask: ['title'] }
    expect((await items.batchUpdate([changes]))[0]?.title).to.equal('w')
  }
  expect((await items.batchGet([id])).map((one) => one.id)).to.deep.equal([id])
}

const selected = async ({ row, entity, property, dataSource }: Lives, id: Id): Promise<Item> => {
  const all = dataSource.getRepository(entity)
  const name = all.metadata.name
  const query = all.createQueryBuilder(name).where({ id })
  return (row.isUnselected === true ? query.addSelect(`${name}.${property}`) : query).getOneOrFail()
}

/** Each reads what the other has written. */
async function writtenByBoth(lives: Lives): Promise<void> {
  const { row, items, entity, engine, property, dataSource } = lives
  const manager = dataSource.getRepository(entity)
  const [found] = (await items.list()).items
  const { id } = found as Item
  const isOtherwise = row.readsOtherwise?.includes(engine) === true
  const read = await selected(lives, id)
  if (isOfCode(lives) && !isOtherwise) isSame(lives, read, found?.[property])
  await manager.save(Object.assign(read, { title: 'theirs' }))
  const kept = await items.get(id)
  expect(kept.title).to.equal('theirs')
  if (isOfCode(lives)) isSame(lives, kept, found?.[property])
  if (row.values !== undefined && !isOtherwise && row.isFixed !== true) {
    const value = valueAt(lives, 2)
    await manager.save(Object.assign(await selected(lives, id), { [property]: value }))
    if (isOfCode(lives)) isSame(lives, await items.get(id), value)
    else expect((await selected(lives, id))[property]).to.deep.equal(value)
    // A value that Ashlar does not know is kept by each of its writes.
    await items.update(id, { title: 'ours' }, ['title'])
    await items.update(id, isOfCode(lives) ? await items.get(id) : { id, title: 'ours' })
    expect((await selected(lives, id))[property]).to.deep.equal(value)
  }
  const theirs = Object.assign(new entity(), {
    ...given(lives, 'b'),
    ...(isGenerated(row) && row.keyField === TEXT && { id: '019b0000-0000-7000-8000-00000000000b' }),
    accountId: 'acme',
  })
  if (row.values !== undefined) theirs[property] = valueAt(lives, 3)
  const saved = await manager.save(theirs)
  const ours = await items.get(saved.id)
  expect(ours.title).to.equal('t')
  if (isOfCode(lives) && !isOtherwise) isSame(lives, ours, 'created' in row ? row.created : valueAt(lives, 3))
}

async function deleted(lives: Lives): Promise<void> {
  const { row, items, entity, dataSource } = lives
  const manager = dataSource.getRepository(entity)
  const made = await items.create(given(lives, 'c', valueAt(lives, 5)))
  const withDeleted = () => manager.findOne({ where: { id: made.id }, withDeleted: true })
  await items.delete(made.id)
  await rejection(items.get(made.id), ErrNotFound)
  if (row.isRemoved === true) expect(await withDeleted()).to.equal(null)
  else {
    expect((await withDeleted())?.id).to.equal(made.id)
    expect(await manager.findOneBy({ id: made.id })).to.equal(null)
    const back = await items.undelete(made.id)
    if (isOfCode(lives)) isSame(lives, back, made[lives.property])
    await manager.softDelete({ id: made.id })
    await rejection(items.get(made.id), ErrNotFound)
    await manager.restore({ id: made.id })
    expect((await items.get(made.id)).title).to.equal('t')
    await items.batchDelete([made.id])
    expect(await manager.findOneBy({ id: made.id })).to.equal(null)
  }
}

/** Events of the repository have the fields of the message, and nothing besides. */
async function emitted({ entity, dataSource, row, property }: Lives): Promise<void> {
  const { type, events } = resourceModel(entity)
  expect(events).to.not.equal(undefined)
  const found = await dataSource.query<{ payload: Buffer | string }[]>(
    `SELECT payload FROM outbox WHERE aggregate_type = '${type}' ORDER BY event_epoch`,
  )
  const texts = found.map(({ payload }) => Buffer.from(payload as string).toString())
  expect(texts.length, 'events').to.be.at.least(2)
  expect(texts.join('\n')).to.include('"title"')
  if (row.field === undefined && row.values !== undefined)
    expect(texts.join('\n')).to.not.include(`"${property}"`)
}
