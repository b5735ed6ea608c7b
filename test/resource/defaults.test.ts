import { expect } from 'chai'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import {
  CreateTime,
  Credential,
  Default,
  ETag,
  Resource,
  Secret,
  TenantScoped,
} from '../../decorators/index.js'
import { DeclarationError } from '../../lib/errors.js'
import { resourceModel } from '../../lib/resource/resource-model.js'

describe('a default', () => {
  it('that cannot be stops the start, by the name of its property', () => {
    @Resource()
    @Entity()
    @TenantScoped()
    class Wrong {
      @PrimaryColumn() @Default(() => 'x') id!: string
      @Column({ length: 3, default: 'long' }) code!: string
      @Column({ default: 'x' }) size!: number
      @Column({ default: 2 ** 31 }) weight!: number
      @Column({ default: 'a\0' }) text!: string
      @Column({ default: 1.5 }) big!: bigint
      @Column({ default: 'yes' }) open!: boolean
      @Column({ default: 'x' }) @Default(() => 'y') both!: string
      @Column() @Default('x' as never) value!: string
      @ETag() @Default(() => 'x') etag!: string
      @CreateTime() @Default(() => new Date()) createTime!: Date
      @Secret() @Default(() => 'x') key?: Secret
      @Credential() @Default(() => 'x') token?: Credential
      @Default(() => 'x') nowhere!: string
      @Column({ default: () => 'now()' }) @Default(() => 'x') due!: string
    }
    let problems: readonly string[] = []
    try {
      resourceModel(Wrong)
    } catch (error) {
      problems = (error as DeclarationError).problems
    }
    const names = problems.map((problem) => /^\w+/.exec(problem)?.[0])
    expect(names).to.have.members([
      ...['id', 'code', 'size', 'weight', 'text', 'big', 'open', 'both', 'value', 'etag', 'createTime'],
      ...['key', 'token', 'nowhere', 'due'],
    ])
    expect(problems.join('\n')).to.match(/code: the default .*3 characters/)
    expect(problems.join('\n')).to.match(/due has a default in @Column\(\) and another in @Default\(\)/)
    expect(problems.join('\n')).to.match(/key has a default, but a secret cannot have one/)
  })

  it('of a 64-bit integer may be written as a number or a string, as TypeORM has it', () => {
    @Resource({ shared: true })
    @Entity()
    class Counted {
      @PrimaryColumn() id!: string
      @Column({ type: 'bigint', default: 0 }) zero!: bigint
      @Column({ default: '-9223372036854775808' }) least!: bigint
      @Column({ type: 'bigint', default: 7n }) seven!: bigint
    }
    const { byProperty } = resourceModel(Counted)
    const made = ['zero', 'least', 'seven'].map((property) => byProperty.get(property)?.default?.make())
    expect(made).to.deep.equal([0n, -(2n ** 63n), 7n])
  })

  it('of an object is a copy for each entity', () => {
    @Resource({ shared: true })
    @Entity()
    class Listed {
      @PrimaryColumn() id!: string
      @Column({ type: 'simple-json', default: { a: 1 } }) labels!: Record<string, number>
    }
    const make = resourceModel(Listed).byProperty.get('labels')?.default?.make
    expect(make?.()).to.deep.equal({ a: 1 })
    expect(make?.()).to.not.equal(make?.())
  })
})
