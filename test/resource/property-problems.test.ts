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
      'toString: every object has a toString of its own: give the property another name, and name its column with @Column({ name: "toString" })',
      'title is an accessor, and a column needs a property that holds its value: declare a plain one',
      'token is an accessor, and a column needs a property that holds its value: declare a plain one',
      'note is read-only, and a column needs a property that holds its value: declare a plain one',
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
      'small: its column size differs from Size of large in case or accents alone, and MySQL and SQLite take them for one: write @Column({ name: ... })',
      'display_name: displayName is the field display_name already: give it another name',
      '*: a mask that names * means all fields: give it another name',
    ])
  })

  const columns: readonly (readonly [name: string, why: string])[] = [
    ['', 'has no name'],
    ['2024', 'is a number, which comes out of its place in a row of SQLite'],
    ['xmin', 'is a column that PostgreSQL adds to each table'],
    ['__proto__', 'is a part of every object'],
    ['a ', 'ends with a space, which no name in MySQL can'],
    ['a\0', 'contains a character that a name cannot have'],
    ['\u{1f600}', 'holds a character that no name in MySQL can have'],
    ['x'.repeat(64), 'is longer than the 63 bytes of a name in PostgreSQL'],
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
