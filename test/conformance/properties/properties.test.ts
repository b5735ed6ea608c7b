import { expect } from 'chai'
import fc from 'fast-check'
import { RequestContext } from '../../../lib/context.js'
import { DeclarationError } from '../../../lib/errors.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import type { Field } from '../../../lib/resource/fields/field.js'
import { type EntityClass, resourceModel } from '../../../lib/resource/resource-model.js'
import { backends, describeOn, coalesced } from '../../support/databases/backends.js'
import { drill } from '../../support/drill.js'
import { classOf, type Property, type Shape, shapes, type Values, valuesOf } from './random-class.js'
import { collated } from '../repository/open-subject.js'

interface Accepted {
  readonly shape: Shape
  readonly entity: EntityClass<Values>
}

const accepted: Accepted[] = []
const refused: { readonly shape: Shape; readonly why: unknown }[] = []
for (const [at, shape] of fc.sample(shapes, drill(30, 400)).entries())
  try {
    const entity = classOf(shape, `things_${at}`) as EntityClass<Values>
    resourceModel(entity)
    accepted.push({ shape, entity })
  } catch (why) {
    refused.push({ shape, why })
  }

describe('a class that is refused', () => {
  it('names the property', () => {
    for (const { shape, why } of refused) {
      expect(why, JSON.stringify(shape)).to.be.instanceOf(DeclarationError)
      const names = [...shape.properties, { name: shape.key }].flatMap(({ name }) => [
        name,
        JSON.stringify(name),
      ])
      const { message } = why as DeclarationError
      expect(
        names.some((name) => message.includes(name)),
        message,
      ).to.equal(true)
    }
  })
})

describeOn('the properties of a class', [...backends, ...coalesced], (backend) => {
  it('hold their own values, whatever their names and declarations', async () => {
    const entities = accepted.map(({ entity }) => entity)
    const { dataSource, database, close } = await backend.open(entities)
    try {
      if (dataSource !== undefined && database !== undefined)
        await createTables(collated(dataSource, backend), entities, database.dialect.name)
      for (const { shape, entity } of accepted) {
        const Rows = dataSource === undefined ? undefined : repositoryOf(entity)
        const rows = Rows === undefined ? new (memoryRepositoryOf(entity))() : new Rows(dataSource as never)
        const who = { subject: 'ada', ...(shape.tenantScoped ? { tenant: 'acme' } : {}) }
        await RequestContext.as(who, () => holds(rows, shape, entity)).catch((cause: unknown) => {
          throw new TypeError(`${JSON.stringify(shape)}: ${String(cause)}`, { cause })
        })
      }
    } finally {
      await close()
    }
  })
})

/** Writes and reads each property in each way. */
async function holds(rows: Repository<Values>, shape: Shape, entity: EntityClass<Values>): Promise<void> {
  const { properties, key } = shape
  const { byProperty } = resourceModel(entity)
  const plain = properties.filter(({ name }) => byProperty.get(name)?.role === 'plain')
  const field = ({ name }: Property) => byProperty.get(name) as Field
  const fieldMask = plain.map((property) => field(property).proto)
  const same = (found: Values | undefined, expected: Values, after: string) => {
    for (const { name } of plain)
      expect(found?.[name], `${JSON.stringify(name)} after ${after}`).to.deep.equal(expected[name])
  }
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((of) => valuesOf(properties, of)) as [
    Values,
    Values,
    Values,
    Values,
  ]

  same(await rows.create({ ...a, [key]: '1' }), a, 'a create')
  same(await rows.get('1'), a, 'a create and a get')
  same(await rows.create(Object.assign(new entity(), b, { [key]: '2' })), b, 'a create of an instance')
  const now = { ...a }
  for (const property of plain) {
    now[property.name] = c[property.name]
    const patch = { [property.name]: c[property.name] }
    same(await rows.update('1', patch, [field(property).proto]), now, `an update of ${property.name}`)
  }
  same(await rows.update('2', Object.assign(new entity(), d)), d, 'a full update')
  const { items } = await rows.list({ orderBy: key })
  same(items[0], now, 'a list')
  same(items[1], d, 'a list')
  for (const property of plain) {
    const { proto, filterable } = field(property)
    const value = d[property.name]
    if (!filterable || !/^[a-z_]\w*$/i.test(proto) || typeof value === 'object') continue
    const found = await rows.list({ filter: `${proto} = ${JSON.stringify(value)}`, orderBy: proto })
    expect(
      found.items.map((one) => one[key]),
      `those where ${proto} is as it was written`,
    ).to.include('2')
  }
  const batch = ['1', '2'].map((id, at) => ({ key: id, fieldMask, entity: at === 0 ? b : a }))
  const [first, second] = await rows.batchUpdate(batch)
  same(first, b, 'a batch')
  same(second, a, 'a batch')
  await rows.delete('1')
  if (shape.softDeletable) same(await rows.undelete('1'), b, 'an undelete')
  same((await rows.batchGet(['2']))[0], a, 'a batch and a get of several')
}
