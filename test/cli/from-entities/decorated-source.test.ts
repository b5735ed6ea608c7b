import { expect } from 'chai'
import { type AddedDecorators, decoratedSource } from '../../../cli/from-entities/decorated-source.js'

const ORDER: AddedDecorators = {
  entity: 'Order',
  decorators: ['@Resource({ message: OrderSchema })', '@TenantScoped()'],
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

  for (const [what, source, problem] of [
    ['does not have the class', 'export class Other {}', 'it has no class Order'],
    ['declares one of the names', `class Resource {}\n${CLASS}`, 'it already declares the name Resource'],
    [
      'imports one of the names',
      `import { Resource } from './mine'\n${CLASS}`,
      'it already declares the name Resource',
    ],
  ] as const)
    it(`are not added to a source that ${what}`, () => expect(added(source)).to.equal(`problem: ${problem}`))

  it('are not added to a source that cannot be parsed', () => {
    expect(added('class {')).to.match(/^problem: it cannot be parsed: /)
  })
})
