import 'reflect-metadata'
import { expect } from 'chai'
import { Column, type ColumnOptions, Entity, PrimaryColumn } from 'typeorm'
import { Resource } from '../../../decorators/index.js'
import { InvalidArgument } from '../../../lib/errors.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { type EntityClass, resourceModel } from '../../../lib/resource/resource-model.js'
import { databases, describeOn } from '../../support/databases/backends.js'
import { rejection } from '../../support/rejection.js'
import { inAcme } from '../repository/subject.js'

interface Price {
  id: string
  amount?: string | number
}

function declared(options: ColumnOptions, designType: unknown, existing = false): EntityClass<Price> {
  class Declared {
    @PrimaryColumn({ length: 40 }) id!: string
    amount?: string | number
  }
  Reflect.defineMetadata('design:type', designType, Declared.prototype, 'amount')
  Column({ ...options, type: 'decimal', nullable: true })(Declared.prototype, 'amount')
  Entity('prices')(Declared)
  Resource({ shared: true, ...(existing && { existing }) })(Declared)
  return Declared
}

describe('a decimal', () => {
  it('fails at startup without digits, and as a number with more than 15', () => {
    expect(() => resourceModel(declared({}, String))).to.throw(
      'amount is a decimal whose column states no precision',
    )
    expect(() => resourceModel(declared({ precision: 16 }, Number))).to.throw(
      'which holds 15 digits, but its column 16',
    )
    expect(() => resourceModel(declared({ precision: 4 }, Boolean))).to.throw(
      'declare it as string, or number',
    )
  })
})

describe('the default of a decimal', () => {
  for (const given of [1, '1'])
    it(`accepts ${JSON.stringify(given)}, as TypeORM does`, () => {
      const options = { precision: 10, scale: 2, default: given }
      const { byProperty } = resourceModel(declared(options, String))
      expect(byProperty.get('amount')?.default?.constant).to.equal('1.00')
    })
})

describeOn('a decimal of an existing table', databases, (backend) => {
  const isPostgres = backend.name === 'postgres'
  const isMysql = ['mariadb', 'mysql8'].includes(backend.name)
  const collation = isMysql ? ' COLLATE utf8mb4_nopad_bin' : ''

  it('is returned as stored if the column states no digits', async () => {
    const entity = declared({}, String, true)
    const { dataSource, close } = await backend.open([entity])
    try {
      await dataSource!.query(`CREATE TABLE prices (id varchar(40)${collation} PRIMARY KEY, amount numeric)`)
      await inAcme(async () => {
        const prices = new (repositoryOf(entity))(dataSource!)
        const texts = ['mariadb', 'mysql8'].includes(backend.name)
          ? ['-2', '3', '10']
          : ['-2.5', '3', '10.25']
        for (const [at, amount] of texts.entries()) await prices.create({ id: `p${at}`, amount })
        const { items } = await prices.list({ orderBy: 'amount' })
        expect(items.map(({ amount }) => amount)).to.deep.equal(texts)
        const found = await prices.list({ filter: `amount = ${texts[2]}` })
        expect(found.items.map(({ id }) => id)).to.deep.equal(['p2'])
        if (isMysql) await rejection(prices.create({ id: 'x', amount: '1.5' }), InvalidArgument)
      })
    } finally {
      await close()
    }
  })

  if (isPostgres)
    it('is unset if it is not finite, or has more digits than a number', async () => {
      const entity = declared({}, Number, true)
      const { dataSource, close } = await backend.open([entity])
      try {
        await dataSource!.query(
          `CREATE TABLE prices (id varchar(40)${collation} PRIMARY KEY, amount numeric)`,
        )
        await dataSource!.query(
          `INSERT INTO prices VALUES ('a', 'NaN'), ('b', 1.5), ('c', 1234567890.12345678)`,
        )
        await inAcme(async () => {
          const prices = new (repositoryOf(entity))(dataSource!)
          const { items } = await prices.list({ orderBy: 'id' })
          expect(items.map(({ amount }) => amount)).to.deep.equal([undefined, 1.5, undefined])
          const ids: string[] = []
          for (let pageToken = ''; ;) {
            const page = await prices.list({ orderBy: 'amount', pageSize: 1, pageToken })
            ids.push(...page.items.map(({ id }) => id))
            if ((pageToken = page.nextPageToken) === '') break
          }
          expect(ids).to.deep.equal(['b', 'c', 'a'])
        })
      } finally {
        await close()
      }
    })
})

describeOn('a decimal of a new table', databases, (backend) => {
  if (backend.name !== 'sqlite') return
  it('takes 15 digits', async () => {
    const entity = declared({ precision: 20, scale: 2 }, String)
    const { dataSource, close } = await backend.open([entity])
    try {
      await inAcme(async () => {
        const prices = new (repositoryOf(entity))(dataSource!)
        const held = await prices.create({ id: 'a', amount: '1234567890123.45' })
        expect(held.amount).to.equal('1234567890123.45')
        expect((await prices.get('a')).amount).to.equal('1234567890123.45')
        await rejection(prices.create({ id: 'b', amount: '12345678901234.56' }), InvalidArgument)
      })
    } finally {
      await close()
    }
  })
})
