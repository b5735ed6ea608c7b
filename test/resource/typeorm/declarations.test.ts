import { expect } from 'chai'
import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import ts from 'typescript'
import * as typeorm from 'typeorm'
import { getMetadataArgsStorage } from 'typeorm'
import { CreateTime, Resource } from '../../../decorators/index.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import {
  COLUMN_OPTIONS,
  DECLARATIONS,
  ENTITY_OPTIONS,
  INDEX_OPTIONS,
  JOIN_COLUMN_OPTIONS,
  RELATION_OPTIONS,
  UNIQUE_OPTIONS,
} from '../../../lib/resource/typeorm/declaration-rules.js'
import { problemsOf, REFUSED, type Row, widgetWith } from './declarations.js'

/** Decorators that are carried out; what is refused is refused by their options. */
const CARRIED_OUT = [
  'PrimaryGeneratedColumn',
  ...['Column', 'Entity', 'Index', 'OneToMany', 'PrimaryColumn', 'Unique'],
  ...['CreateDateColumn', 'UpdateDateColumn', 'DeleteDateColumn', 'VersionColumn'],
  ...['AfterLoad', 'AfterInsert', 'BeforeUpdate', 'AfterUpdate', 'AfterRemove'],
]
/** A subscriber has its DataSource: see test/persistence/start-up/data-source-check.test.ts. */
const OF_THE_DATA_SOURCE = ['EventSubscriber']

/** Whose options each interface of TypeORM's has; undefined where the decorator is refused as a whole. */
const OPTIONS: Readonly<Record<string, object | undefined>> = {
  ColumnCommonOptions: COLUMN_OPTIONS,
  ColumnOptions: COLUMN_OPTIONS,
  ColumnEnumOptions: COLUMN_OPTIONS,
  ColumnHstoreOptions: COLUMN_OPTIONS,
  ColumnNumericOptions: COLUMN_OPTIONS,
  ColumnUnsignedOptions: COLUMN_OPTIONS,
  ColumnWithLengthOptions: COLUMN_OPTIONS,
  SpatialColumnOptions: COLUMN_OPTIONS,
  ColumnEmbeddedOptions: undefined,
  EntityOptions: ENTITY_OPTIONS,
  ExclusionOptions: undefined,
  ForeignKeyOptions: undefined,
  IndexOptions: INDEX_OPTIONS,
  JoinColumnOptions: JOIN_COLUMN_OPTIONS,
  JoinTableMultipleColumnsOptions: undefined,
  JoinTableOptions: undefined,
  PrimaryGeneratedColumnIdentityOptions: undefined,
  PrimaryGeneratedColumnNumericOptions: undefined,
  PrimaryGeneratedColumnUUIDOptions: undefined,
  RelationOptions: RELATION_OPTIONS,
  TransactionOptions: undefined,
  UniqueOptions: UNIQUE_OPTIONS,
  ValueTransformer: undefined,
  ViewColumnOptions: undefined,
  ViewEntityOptions: undefined,
  VirtualColumnOptions: undefined,
}

const folder = join(dirname(createRequire(import.meta.url).resolve('typeorm')), 'decorator')
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
  path.endsWith('.d.ts'),
)
const statements = files.flatMap((path) => {
  const text = ts.sys.readFile(join(folder, path)) ?? ''
  return [...ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true).statements]
})
const decorators = [
  ...new Set(statements.filter(ts.isFunctionDeclaration).map(({ name }) => name?.text ?? '')),
].filter((name) => name in typeorm)
const interfaces = statements.filter(ts.isInterfaceDeclaration)

describe('what TypeORM lets an entity declare', () => {
  it('is read from the TypeORM that is installed', () => {
    expect(decorators).to.include.members(['Column', 'ManyToOne', 'BeforeInsert', 'Tree', 'VirtualColumn'])
    expect(decorators.length).to.be.at.least(41)
    expect(interfaces.length).to.be.at.least(24)
  })

  it('has for each decorator a row here, or is carried out', () => {
    const known = new Set([
      ...CARRIED_OUT,
      ...OF_THE_DATA_SOURCE,
      ...REFUSED.map(({ decorator }) => decorator),
    ])
    expect(decorators.filter((name) => !known.has(name))).to.deep.equal([])
    expect([...known].filter((name) => !decorators.includes(name))).to.deep.equal([])
  })

  it('has a rule for each option of each decorator', () => {
    const names = interfaces.map(({ name }) => name.text)
    expect(names.filter((name) => !(name in OPTIONS))).to.deep.equal([])
    const unknown = interfaces.flatMap(({ name, members }) => {
      const table = OPTIONS[name.text]
      const options = members.map((member) => (member.name as ts.Identifier | undefined)?.text ?? '')
      return table === undefined
        ? []
        : options.filter((option) => !(option in table)).map((option) => `${name.text}.${option}`)
    })
    expect(unknown).to.deep.equal([])
  })

  it('has a rule for each list that decorators write to', () => {
    const lists = Object.entries(getMetadataArgsStorage())
      .filter(([, list]) => Array.isArray(list))
      .map(([name]) => name)
    expect(lists).to.include.members(['columns', 'relations'])
    expect(lists.filter((name) => !(name in DECLARATIONS))).to.deep.equal([])
  })

  const tables = {
    Column: COLUMN_OPTIONS,
    Entity: ENTITY_OPTIONS,
    Index: INDEX_OPTIONS,
    JoinColumn: JOIN_COLUMN_OPTIONS,
    ManyToOne: RELATION_OPTIONS,
    Unique: UNIQUE_OPTIONS,
  }
  for (const [decorator, table] of Object.entries(tables))
    it(`has a row here for each refused option of @${decorator}()`, () => {
      const shown = new Set(REFUSED.filter((row) => row.decorator === decorator).map(({ option }) => option))
      const refused = Object.entries(table).filter(
        ([, rule]) => typeof rule !== 'string' && 'instead' in rule,
      )
      expect(refused.map(([name]) => name).filter((name) => !shown.has(name))).to.deep.equal([])
    })
})

describe('a declaration of TypeORM that is not carried out', () => {
  const title = ({ decorator, option, what }: Row) =>
    [`@${decorator}()`, option, what].filter((part) => part !== undefined).join(' ')
  for (const row of REFUSED)
    it(`is refused by name: ${title(row)}`, () => {
      const problems = problemsOf(widgetWith(row.declare, { replaces: row.replaces }))
      expect(problems).to.deep.equal(row.problems)
    })

  it('is refused on an ancestor as well', () => {
    class Base {
      stamp() {}
    }
    typeorm.AfterRecover()(Base.prototype, 'stamp')
    const [problem] = problemsOf(widgetWith(() => {}, { base: Base }))
    expect(problem).to.include('stamp: @AfterRecover() is never called: the entity is permanently removed')
  })

  it('is refused when this version does not know the option', () => {
    const problems = problemsOf(
      widgetWith((prototype) => typeorm.Column({ type: String, shiny: true } as object)(prototype, 'glow')),
    )
    expect(problems).to.deep.equal([
      'glow: the column option shiny is not supported: this version of Ashlar does not know it; or add @Internal(), so that Ashlar does not manage it',
    ])
  })

  it('is refused where an option has another value than those that are carried out', () => {
    const column = (options: object) =>
      problemsOf(widgetWith((prototype) => typeorm.Column({ type: String, ...options })(prototype, 'glow')))
    for (const option of ['nullable', 'unique', 'primary'])
      expect(column({ [option]: 'no' })).to.include(
        `glow: the column option ${option} is "no"; valid: true, false`,
      )
    expect(column({ uniqe: true })).to.deep.equal([
      'glow: the column option uniqe is not supported: did you mean unique?',
    ])
    const entity = widgetWith(
      (_, target) => typeorm.Entity('widgets', { synchronize: 'no' as never })(target),
      { replaces: 'entity' },
    )
    expect(problemsOf(entity)).to.deep.equal([
      '@Entity(): the option synchronize is "no"; valid: true, false',
    ])
  })

  it('is refused when this version does not know the decorator', () => {
    const storage = getMetadataArgsStorage() as unknown as Record<string, unknown>
    try {
      const entity = widgetWith((_, target) => {
        storage['hovers'] = [{ target, propertyName: 'title' }, { target }, { target: class {} }]
      })
      expect(problemsOf(entity)).to.deep.equal([
        'title: this version of Ashlar does not know what TypeORM stores as hovers; or add @Internal(), so that Ashlar does not manage it',
        'it: this version of Ashlar does not know what TypeORM stores as hovers',
      ])
    } finally {
      delete storage['hovers']
    }
  })

  it('is not looked for in entities that are no resources', () => {
    class Other {}
    typeorm.Check('1 = 1')(Other)
    expect(problemsOf(widgetWith(() => {}))).to.deep.equal([])
  })
})

class Other {}

describe('a declaration of TypeORM that is carried out', () => {
  const rows: readonly (readonly [what: string, declare: Row['declare'], replaces?: Row['replaces']])[] = [
    [
      'options that say what is so anyway',
      (prototype) =>
        typeorm.Column({ type: String, update: true, insert: true, select: true, array: false, utc: false })(
          prototype,
          'glow',
        ),
    ],
    [
      'a column beside a decorator that makes the same',
      (prototype) => {
        CreateTime()(prototype, 'createTime')
        typeorm.Column({ type: 'timestamp' })(prototype, 'createTime')
      },
    ],
    ['the length of a text', (prototype) => typeorm.Column('varchar', { length: '9' })(prototype, 'glow')],
    [
      'microseconds of a time',
      (prototype) => typeorm.Column({ type: 'timestamp', precision: 6 })(prototype, 'glow'),
    ],
    ['no precision', (prototype) => typeorm.Column({ type: 'int', precision: null })(prototype, 'glow')],
    [
      'the engine that there is',
      (_, entity) => typeorm.Entity('widgets', { engine: 'InnoDB' })(entity),
      'entity',
    ],
    [
      'what changes nothing here, of a column',
      (prototype) =>
        typeorm.Column({
          ...{ type: 'int', comment: 'of people', unsigned: true, width: 4 },
          ...{ primaryKeyConstraintName: 'pk', foreignKeyConstraintName: 'fk' },
        } as object)(prototype, 'glow'),
    ],
    [
      'what changes nothing here, of the class',
      (_, entity) =>
        typeorm.Entity('widgets', { comment: 'all', orderBy: { title: 'ASC' }, withoutRowid: true })(entity),
      'entity',
    ],
    [
      'what changes nothing here, of a relation',
      (prototype) => {
        const options = { cascade: true, eager: true, lazy: true, persistence: false }
        typeorm.ManyToOne(() => Other, options)(prototype, 'owner')
        typeorm.JoinColumn({ foreignKeyConstraintName: 'fk_owner' })(prototype, 'owner')
      },
    ],
    [
      'an index that others make',
      (_, entity) => typeorm.Index(['title'], { synchronize: false, where: 'size > 1' } as object)(entity),
    ],
    [
      'an entity that others create',
      (_, entity) => typeorm.Entity({ name: 'widgets', synchronize: false })(entity),
      'entity',
    ],
    ['the index type that there is', (_, entity) => typeorm.Index(['title'], { type: 'btree' })(entity)],
    [
      'an index that is not partial',
      (_, entity) => typeorm.Index(['title'], { unique: false, sparse: false })(entity),
    ],
  ]
  for (const [what, declare, replaces] of rows)
    it(`is taken: ${what}`, () => {
      expect(problemsOf(widgetWith(declare, { replaces }))).to.deep.equal([])
    })

  it('makes columns unique and indexed, however they are named', () => {
    const model = resourceModel(
      widgetWith((prototype, entity) => {
        typeorm.Column({ type: String, unique: true })(prototype, 'code')
        typeorm.Unique((widget: Record<string, string>) => [widget['title'], widget['code']])(entity)
        typeorm.Index({ unique: true })(prototype, 'title')
        typeorm.Index((widget: Record<string, string>) => ({ [widget['code'] ?? '']: -1 }))(entity)
        typeorm.Index(['title ', 'code'])(entity)
      }),
    )
    const names = (groups: typeof model.uniques) =>
      groups.map(({ fields }) => fields.map(({ property }) => property))
    expect(names(model.uniques)).to.deep.equal([['code'], ['title', 'code'], ['title']])
    expect(names(model.indexes)).to.deep.equal([['code'], ['title', 'code']])
  })

  it('has the table of its own @Entity, not of an ancestor', () => {
    const Widget = widgetWith((_, entity) => typeorm.Entity('widgets')(entity), { replaces: 'entity' })
    expect(resourceModel(Widget).table).to.equal('widgets')
    class Heir extends Widget {}
    Resource({ shared: true })(Heir)
    expect(problemsOf(Heir)).to.deep.equal(['it is not a TypeORM entity: write @Entity() below @Resource()'])
    class Apart extends Widget {}
    typeorm.Entity('apart')(Apart)
    Resource({ shared: true })(Apart)
    expect(resourceModel(Apart).table).to.equal('apart')
  })
})
