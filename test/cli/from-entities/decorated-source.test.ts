import { expect } from 'chai'
import {
  type AddedDecorators,
  classDescriptions,
  decoratedSource,
} from '../../../cli/from-entities/decorated-source.js'

const ORDER: AddedDecorators = {
  entity: 'Order',
  decorators: ['@Resource({ message: OrderSchema })', '@TenantScoped()'],
  internal: [],
  imports: new Map([
    ['ashlar/decorators', ['Resource', 'TenantScoped']],
    ['./gen/order_pb.js', ['OrderSchema']],
  ]),
}

const CLASS = `@Entity('orders')
export class Order {
  @PrimaryColumn() id!: string // the number
}
`

const added = (source: string): string => {
  const result = decoratedSource(source, [ORDER])
  return 'text' in result ? result.text : `problem: ${result.problem}`
}

describe('decorators that are added to a source', () => {
  it('are above those of the class, and nothing else changes', () => {
    expect(added(`import { Entity, PrimaryColumn } from 'typeorm'\n\n${CLASS}`)).to
      .equal(`import { Entity, PrimaryColumn } from 'typeorm'
import { Resource, TenantScoped } from 'ashlar/decorators'
import { OrderSchema } from './gen/order_pb.js'

@Resource({ message: OrderSchema })
@TenantScoped()
${CLASS}`)
  })

  it('follow the quotes, semicolons and indentation of the file', () => {
    const source = `import { Entity } from "typeorm";\nnamespace A {}\n  @Entity() class Order {}\n`
    expect(added(source)).to.equal(`import { Entity } from "typeorm";
import { Resource, TenantScoped } from "ashlar/decorators";
import { OrderSchema } from "./gen/order_pb.js";
namespace A {}
  @Resource({ message: OrderSchema })
  @TenantScoped()
  @Entity() class Order {}
`)
  })

  it('are added once', () => {
    const once = added(`import { Entity, PrimaryColumn } from 'typeorm'\n\n${CLASS}`)
    expect(added(once)).to.equal(once)
  })

  it('are added to a class of a module without imports, and to a default export', () => {
    expect(added(`export default class Order {}\n`)).to
      .equal(`import { Resource, TenantScoped } from 'ashlar/decorators';
import { OrderSchema } from './gen/order_pb.js';

@Resource({ message: OrderSchema })
@TenantScoped()
export default class Order {}
`)
  })

  for (const [what, line] of [
    ['declares', 'class Resource {}'],
    ['imports', "import { Resource } from './mine'"],
  ] as const)
    it(`have another name in a source that ${what} theirs`, () => {
      const once = added(`${line}\n${CLASS}`)
      expect(once)
        .to.include('@AshlarResource({ message: OrderSchema })\n@TenantScoped()\n@Entity')
        .and.match(/^import \{ Resource as AshlarResource, TenantScoped \} from 'ashlar\/decorators';?$/m)
      expect(added(once)).to.equal(once)
    })

  it('are added to relations that lead to no resource', () => {
    const source = `import { Entity } from 'typeorm'\n\n@Entity()\nclass Line {\n  /** Of the order. */\n  @ManyToOne(() => Order) order?: Order\n}\n`
    const imports = new Map([['ashlar/decorators', ['Internal', 'TenantScoped']]])
    const addition = { entity: 'Line', decorators: ['@TenantScoped()'], internal: ['order'], imports }
    const result = decoratedSource(source, [addition])
    expect('text' in result && result.text).to.equal(`import { Entity } from 'typeorm'
import { Internal, TenantScoped } from 'ashlar/decorators'

@TenantScoped()
@Entity()
class Line {
  /** Of the order. */
  @Internal()
  @ManyToOne(() => Order) order?: Order
}
`)
    expect(decoratedSource(source, [{ ...addition, internal: ['base'] }])).to.deep.equal({
      problem: 'Line inherits base, which needs @Internal() in its own class',
    })
  })

  for (const [what, source, problem] of [
    ['does not have the class', 'export class Other {}', 'it has no class Order'],
    [
      'declares a name and the other one for it',
      `class Resource {}\nclass AshlarResource {}\n${CLASS}`,
      'it already declares the names Resource and AshlarResource',
    ],
  ] as const)
    it(`are not added to a source that ${what}`, () => expect(added(source)).to.equal(`problem: ${problem}`))

  it('are not added to a source that cannot be parsed', () => {
    expect(added('class {')).to.match(/^problem: it cannot be parsed: /)
  })
})

describe('the doc comments of a source', () => {
  it('are those above a class and its properties, without their tags', () => {
    const source = `// A file.
/**
 * An order of
 * a {@link Customer}.
 * @internal
 */
@Entity()
export class Order {
  /** The number. */
  @PrimaryColumn() id!: string
  /* A note for readers. */
  @Column() note!: string
  /** @deprecated */
  @Column() old!: string
}
/** Another. */
class Line {}
`
    const found = classDescriptions(source)
    expect(found.get('Order')?.description).to.equal('An order of a Customer.')
    expect([...(found.get('Order')?.properties ?? [])]).to.deep.equal([['id', 'The number.']])
    expect(found.get('Line')?.description).to.equal('Another.')
  })
})
