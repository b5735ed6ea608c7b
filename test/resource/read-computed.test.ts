import { expect } from 'chai'
import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import {
  Computed,
  Default,
  Resource,
  Searchable,
  SoftDeletable,
  TenantScoped,
} from '../../decorators/index.js'
import { DeclarationError } from '../../lib/errors.js'
import { resourceModel } from '../../lib/resource/resource-model.js'
import { NoteSchema, SpecimenSchema } from '../support/gen/specimens_pb.js'
import { TicketSchema } from '../support/gen/tickets_pb.js'

const problemsOf = (entity: new () => object): readonly string[] => {
  try {
    resourceModel(entity)
  } catch (error) {
    return (error as DeclarationError).problems
  }
  return []
}

describe('a computed field', () => {
  it('that cannot be stops the start, by the name of its property', () => {
    @Resource({ message: SpecimenSchema })
    @Entity()
    @TenantScoped()
    @SoftDeletable()
    class Wrong {
      @PrimaryColumn() @Computed(() => 'x') id!: string
      @Column() @Computed(() => 'x') title!: string
      @Computed(() => 'x') accountId!: string
      @Computed(() => new Date()) deleteTime?: Date
      @Computed(() => Promise.resolve(1)) count!: string
      @Computed(async () => Promise.resolve(1n)) big!: bigint
      @Computed(function* () {
        yield 1
      })
      score!: number
      @Computed('x' as never) code!: string
      @Computed(() => 'x') nowhere!: string
      @Computed(() => 'x') webhookSecret!: string
      @Computed(() => 'x') @Default(() => 'y') note?: string
      @Computed(() => 'x') @Searchable() serial!: string
      @Computed(() => 1) get ratio(): number {
        return 1
      }
      @Computed(() => 'x') labels!: string
    }
    const problems = problemsOf(Wrong)
    for (const [property, why] of [
      ['id', /column/],
      ['title', /column/],
      ['accountId', /framework stores it/],
      ['deleteTime', /framework stores it/],
      ['count', /declare it as number, not String/],
      ['big', /async function/],
      ['score', /generator/],
      ['code', /without a function/],
      ['nowhere', /specimens.v1.Specimen has no field nowhere/],
      ['webhookSecret', /INPUT_ONLY/],
      ['note', /drop @Default\(\)/],
      ['ratio', /accessor/],
      ['labels', /declare it as an array/],
    ] as const)
      expect(
        problems.find((problem) => problem.startsWith(`${property} `) || problem.startsWith(`${property}:`)),
        property,
      ).to.match(why)
    expect(problems.join('\n')).to.match(/@Searchable: serial is computed/)
  })

  it('cannot be what a client has to send', () => {
    @Resource({ message: TicketSchema })
    @Entity()
    @TenantScoped()
    class Sent {
      @PrimaryColumn() id!: string
      @Computed(() => 'x') title!: string
    }
    expect(problemsOf(Sent).join('\n')).to.match(/title is @Computed\(\), but REQUIRED in tickets.v1.Ticket/)
  })

  it('has no index', () => {
    @Resource({ message: NoteSchema, shared: true })
    @Entity()
    @Index(['stars'])
    class Indexed {
      @PrimaryColumn() name!: string
      @Column() text!: string
      @Computed(() => 1) stars!: number
    }
    expect(problemsOf(Indexed).join('\n')).to.match(/@Index.*stars/)
  })

  it('has one role', () => {
    expect(() => {
      class Two {
        @Column() @Computed(() => 'x') kept!: string
      }
      Computed<Two>(() => 'x')(Two.prototype, 'kept')
      Default(() => 'x')(Two.prototype, 'kept')
      return Two
    }).to.not.throw()
  })

  it('is inherited, needs no message, and may read another', () => {
    abstract class Base {
      @PrimaryColumn() id!: string
      @Column() size!: number
      @Computed((one: Base) => one.size * 2) double!: number
    }
    @Resource({ shared: true })
    @Entity()
    class Sized extends Base {
      @Computed((one: Sized) => `${one.double} of ${one.id}`) label!: string
      @Computed((one: Sized) => one.loop) loop!: string
    }
    const one = Object.assign(resourceModel(Sized).create(), { id: 'a', size: 3 })
    expect([one.double, one.label]).to.deep.equal([6, '6 of a'])
    expect(() => one.loop).to.throw('internal error')
    expect(resourceModel(Sized).fields.map(({ property }) => property)).to.deep.equal(['id', 'size'])
  })
})
