import { expect } from 'chai'
import { Column, Entity, getMetadataArgsStorage, PrimaryColumn, type ValueTransformer } from 'typeorm'
import { Resource } from '../../../decorators/index.js'
import { ManagedValues } from '../../../lib/resource/kinds/managed.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { DepositSchema, NoteSchema } from '../../support/gen/specimens_pb.js'

const transformerOf = (target: unknown, property: string) =>
  getMetadataArgsStorage().columns.find((one) => one.target === target && one.propertyName === property)
    ?.options.transformer as ValueTransformer

describe("a column that several resources inherit, in TypeORM's own manager", () => {
  abstract class Named {
    @Column('simple-json') labels!: Record<string, string>
    @Column() size!: bigint
  }

  @Resource({ shared: true })
  @Entity('crates')
  class Crate extends Named {
    @PrimaryColumn() id!: string
  }

  it('has its values in all of them, while they are of one kind', () => {
    @Resource({ shared: true })
    @Entity('barrels')
    class Barrel extends Named {
      @PrimaryColumn() id!: string
    }
    for (const entity of [Crate, Barrel])
      expect(resourceModel(entity as new () => object).byProperty.get('size')?.kind).to.equal('int64')
    expect(transformerOf(Named, 'size').to(5n)).to.equal('5')
    expect(transformerOf(Named, 'size').from('5')).to.equal(5n)
    expect(transformerOf(Named, 'labels').to({ a: 'b' })).to.equal('{"a":"b"}')
  })

  it('is refused with what to do, once a message says something else of it', () => {
    abstract class Shared {
      @Column('simple-json') labels!: string[]
      @Column() text!: string
    }
    @Resource({ shared: true })
    @Entity('boxes')
    class Box extends Shared {
      @PrimaryColumn() id!: string
    }
    expect(transformerOf(Shared, 'labels').to(['a'])).to.equal('["a"]')

    @Resource({ message: DepositSchema, shared: true })
    class Deposit extends Shared {}
    @Resource({ message: NoteSchema, shared: true })
    class Note extends Shared {}
    expect([Box.name, Deposit.name, Note.name]).to.have.length(3)
    for (const way of ['to', 'from'] as const) {
      expect(transformerOf(Shared, 'labels')[way](null) as unknown).to.equal(null)
      expect(() => void transformerOf(Shared, 'labels')[way]([])).to.throw(
        TypeError,
        "labels is inherited by several resources, whose messages give it different types: declare it in each of them to use it with TypeORM's manager",
      )
    }
  })

  it('keeps a transformer of its own, in front of what the column needs', () => {
    const own: ValueTransformer = { to: (value: unknown) => value, from: (value: unknown) => value }
    @Resource({ shared: true })
    @Entity('lids')
    class Lid {
      @PrimaryColumn() id!: string
      @Column({ transformer: own }) size!: number
    }
    const [first, second, ...others] = [transformerOf(Lid, 'size') as unknown].flat()
    expect([first, others]).to.deep.equal([own, []])
    expect(second).to.be.instanceOf(ManagedValues)
    expect(resourceModel(Lid).byProperty.get('size')?.transformed).to.not.equal(undefined)
  })
})
