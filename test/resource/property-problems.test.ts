import { expect } from 'chai'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource, Secret } from '../../decorators/index.js'
import { problemsOf } from './typeorm/declarations.js'

describe('a property that cannot hold its own value', () => {
  it('is refused by name, with what to do', () => {
    @Resource({ shared: true })
    @Entity('things')
    class Thing {
      #title = ''
      @PrimaryColumn() id!: string
      @Column() toString!: () => string
      @Column() get title(): string {
        return this.#title
      }
      set title(value: string) {
        this.#title = value
      }
      @Secret() get token(): Secret | undefined {
        return undefined
      }
      @Column() note!: string
      constructor() {
        Object.defineProperty(this, 'note', { value: '' })
      }
    }
    expect(problemsOf(Thing)).to.include.members([
      'toString: every object already has a property toString: give the property another name, and name its column with @Column({ name: "toString" })',
      'title is an accessor, but a column needs a property that holds its value: declare a plain property',
      'token is an accessor, but a column needs a property that holds its value: declare a plain property',
      'note is read-only, but a column needs a property that holds its value: declare a plain property',
    ])
  })

  it('is refused where two could not be told apart', () => {
    @Resource({ shared: true })
    @Entity('things')
    class Thing {
      @PrimaryColumn() id!: string
      @Column() displayName!: string
      @Column({ name: 'shown' }) display_name!: string
      @Column({ name: 'Size' }) large!: string
      @Column({ name: 'size' }) small!: string
      @Column({ name: 'all' }) '*'!: string
    }
    expect(problemsOf(Thing)).to.deep.equal([
      'small: its column size differs from Size of large only in case or accents, which MySQL and SQLite ignore: write @Column({ name: ... })',
      'display_name: displayName is already the field display_name: give it another name',
      '*: a mask that names * means all fields: give it another name',
    ])
  })

  const columns: readonly (readonly [name: string, why: string])[] = [
    ['', 'has no name'],
    ['2024', 'is a number, which changes the order of properties in SQLite rows'],
    ['xmin', 'is a column that PostgreSQL adds to each table'],
    ['__proto__', 'is a property of every object'],
    ['a ', 'ends with a space, which is not allowed in a MySQL name'],
    ['a\0', 'contains a character that a name cannot have'],
    ['\u{1f600}', 'contains a character that a MySQL name cannot contain'],
    ['x'.repeat(64), 'is longer than the 63 bytes of a PostgreSQL name'],
  ]
  for (const [name, why] of columns)
    it(`is refused for the column ${JSON.stringify(name)}`, () => {
      class Thing {}
      const declare = (property: string, decorate: PropertyDecorator) => {
        Reflect.defineMetadata('design:type', String, Thing.prototype, property)
        decorate(Thing.prototype, property)
      }
      declare('id', PrimaryColumn())
      // TypeORM takes an empty name for none.
      declare(name === '' ? '' : 'title', Column(name === '' ? {} : { name }))
      Entity('things')(Thing)
      Resource({ shared: true })(Thing)
      expect(problemsOf(Thing)).to.deep.equal([
        `${name === '' ? '""' : 'title'}: its column ${JSON.stringify(name)} ${why}: write @Column({ name: ... })`,
      ])
    })
})
