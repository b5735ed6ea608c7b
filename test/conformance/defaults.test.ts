import { create } from '@bufbuild/protobuf'
import { expect } from 'chai'
import { RequestContext } from '../../lib/context.js'
import type { Repository } from '../../lib/persistence/contract/repository.js'
import { memoryRepositoryOf, repositoryOf } from '../../lib/persistence/repository-of.js'
import { createTables } from '../../lib/persistence/schema/create-tables.js'
import { resourceModel } from '../../lib/resource/resource-model.js'
import { backends, describeOn, coalesced } from '../support/databases/backends.js'
import { Deposit, owners } from '../support/entities/deposit.js'
import { Ranked, ranking } from '../support/entities/ranked.js'
import { DepositSchema } from '../support/gen/specimens_pb.js'
import { rejection } from '../support/rejection.js'
import { collated } from './repository/open-subject.js'

const asAda = <T>(fn: () => Promise<T>): Promise<T> => RequestContext.as({ subject: 'ada' }, fn)

describeOn('defaults', [...backends, ...coalesced], (backend) => {
  let close: () => Promise<void>
  let query: ((text: string) => Promise<unknown>) | undefined
  let deposits: Repository<Deposit>
  let ranked: Repository<Ranked>

  before(async () => {
    const { dataSource, database, close: end } = await backend.open([Deposit, Ranked])
    close = end
    if (dataSource === undefined || database === undefined) {
      deposits = new (memoryRepositoryOf(Deposit))()
      ranked = new (memoryRepositoryOf(Ranked))()
      return
    }
    await createTables(collated(dataSource, backend), [Deposit, Ranked], database.dialect.name)
    deposits = new (repositoryOf(Deposit))(dataSource)
    ranked = new (repositoryOf(Ranked))(dataSource)
    query = (text) => dataSource.query(text)
  })
  beforeEach(() => void owners.splice(0))
  after(() => close())

  it('sets the default if the entity has no value', () =>
    asAda(async () => {
      owners.push('ada', 'bea')
      const first = await deposits.create({ id: 'a' })
      const second = await deposits.create({ id: 'b' })
      for (const made of [first, second, await deposits.get('a')])
        expect(made).to.include({ status: "it's \\ new", priority: 3, open: true })
      expect([first.owner, second.owner, (await deposits.get('b')).owner]).to.deep.equal([
        'ada',
        'bea',
        'bea',
      ])
    }))

  it('keeps values that code gives, including zero values', () =>
    asAda(async () => {
      owners.push('nobody')
      const given = { id: 'c', status: '', priority: 0, open: false, owner: 'x' }
      expect(await deposits.create(given)).to.include(given)
      expect(await deposits.get('c')).to.include(given)
      expect(owners).to.deep.equal(['nobody'])
    }))

  it('shows defaults to a hook before the write, which may change them', () =>
    asAda(async () => {
      ranking.do = (one) => {
        one.slug = `${one.status} by ${one.owner}`
        if (one.id === 'changed') one.status = ''
      }
      const plain = { status: 'new', owner: 'ada', slug: 'new by ada' }
      expect(await ranked.create({ id: 'plain' })).to.include(plain)
      expect(await ranked.get('plain')).to.include(plain)
      const changed = { status: '', owner: 'bea', slug: 'new by bea' }
      expect(await ranked.create({ id: 'changed', owner: 'bea' })).to.include(changed)
      expect(await ranked.get('changed')).to.include(changed)
      expect(await ranked.create({ id: 'given', status: '', owner: '' })).to.include({ slug: ' by ' })
    }))

  it('applies defaults on create only', () =>
    asAda(async () => {
      owners.push('ada')
      await deposits.create({ id: 'd', priority: 5 })
      const updated = await deposits.update('d', { priority: 0, status: '' }, ['priority', 'status', 'owner'])
      expect(updated).to.include({ priority: 0, status: '' })
      expect(updated.owner).to.equal(undefined)
    }))

  it('replaces zeros of fields without presence, and never a value that a client sets', () =>
    asAda(async () => {
      const { fromMessage, leaveToDefaults } = resourceModel(Deposit)
      const sent = async (init: Parameters<typeof create<typeof DepositSchema>>[1]) => {
        const entity = fromMessage(create(DepositSchema, init))
        leaveToDefaults(entity)
        return deposits.create(entity)
      }
      expect(await sent({ id: 'e' })).to.include({ status: "it's \\ new", priority: 3, open: true })
      expect(await sent({ id: 'f', priority: 1, owner: '' })).to.include({
        priority: 1,
        owner: '',
        open: true,
      })
    }))

  it('fails with an error that names the property if a function returns a default that the column cannot hold', () =>
    asAda(async () => {
      for (const wrong of ['a\0', 'x'.repeat(256), 5 as never]) {
        owners.push(wrong)
        await rejection(deposits.create({ id: 'g' }), TypeError, /^@Default\(\) of owner /)
      }
    }))

  it('creates the defaults in the table for other writers', function () {
    if (query === undefined) return this.skip()
    const sql = query
    return asAda(async () => {
      const lists = ['labels', 'depths', 'codes', 'grades', 'checks', 'phases', 'stops', 'samples', 'ratios']
      await sql(
        `INSERT INTO deposits (id, summary, ${lists.join(', ')}) VALUES ('h', '', ${lists.map(() => "'[]'").join(', ')})`,
      )
      expect(await deposits.get('h')).to.include({ status: "it's \\ new", priority: 3, open: true })
    })
  })
})
