import { expect } from 'chai'
import {
  Column,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  RelationId,
  type RelationOptions,
} from 'typeorm'
import { optional, TEXT } from './declared-row.js'
import type { Lives } from './lives.js'
import type { Around, Outcome, Row } from './row.js'

const OWNED = {
  property: 'ownerId',
  field: optional(TEXT),
  designType: String,
  values: ['o1', 'o2', 'o3'],
} as const

const toOwner =
  (options: RelationOptions, name = 'owner_id') =>
  ({ prototype, owner }: Around) => {
    Column({ type: 'varchar', length: 40, nullable: true, name })(prototype, 'ownerId')
    ManyToOne(() => owner, options)(prototype, 'owner')
    JoinColumn({ name })(prototype, 'owner')
  }

/** TypeORM reads the relation of what Ashlar has written. */
const readsOwner = async ({ dataSource, entity, items }: Lives): Promise<void> => {
  const made = await items.create({ id: 'r', title: 't', ownerId: 'o2' })
  const found = await dataSource
    .getRepository(entity)
    .findOneOrFail({ where: { id: made.id }, relations: { owner: true } } as never)
  expect((found['owner'] as { readonly id: string }).id).to.equal('o2')
}

const option = (
  options: RelationOptions & { readonly onDelete?: string },
  outcome: Outcome,
  does: string,
  more: Partial<Row> = {},
): Row => ({
  ...OWNED,
  decorator: 'ManyToOne',
  options: Object.keys(options),
  code: `@ManyToOne(() => Owner, ${shown(options)})`,
  outcome,
  does,
  declare: toOwner(options),
  shows: readsOwner,
  ...more,
})

const shown = (options: object): string =>
  `{ ${Object.entries(options)
    .map(([name, value]) => `${name}: ${JSON.stringify(value).replaceAll('"', "'")}`)
    .join(', ')} }`

/** Relations, and what belongs to them. */
export const RELATION_ROWS: readonly Row[] = [
  {
    ...OWNED,
    decorator: 'ManyToOne',
    code: '@ManyToOne(() => Owner)',
    outcome: 'carried out',
    does: 'A reference to another resource. It must name a resource that the caller may read.',
    declare: toOwner({}),
    shows: readsOwner,
    isOfEachTest: true,
  },
  option({ nullable: true }, 'carried out', 'The reference may be unset.'),
  option({ onDelete: 'SET NULL' }, 'carried out', 'Deleting the target sets the reference to NULL.'),
  option({ onUpdate: 'CASCADE' }, 'without effect', 'A key never changes.'),
  option({ cascade: true }, 'without effect', 'Each resource is written by its own repository.'),
  option(
    { createForeignKeyConstraints: false },
    'carried out',
    'An existing table needs no foreign key. A new table has one anyway.',
  ),
  option({ eager: true }, 'without effect', 'A repository reads the relations that `with` names.'),
  option(
    { lazy: true },
    'without effect',
    'A repository reads the relations that `with` names, without a promise.',
    {
      shows: undefined as never,
    },
  ),
  option({ persistence: false }, 'without effect', 'Repositories do not save lists of related entities.'),
  option(
    { orphanedRowAction: 'nullify' },
    'without effect',
    'Repositories do not save lists of related entities.',
  ),
  {
    ...OWNED,
    decorator: 'JoinColumn',
    options: ['name', 'referencedColumnName', 'foreignKeyConstraintName'],
    code: "@JoinColumn({ name: 'owner_ref', referencedColumnName: 'id', foreignKeyConstraintName })",
    outcome: 'carried out',
    does: "`name` and `referencedColumnName` are carried out; the constraint's name has no effect.",
    declare: ({ prototype, owner }) => {
      Column({ type: 'varchar', length: 40, nullable: true, name: 'owner_ref' })(prototype, 'ownerId')
      ManyToOne(() => owner)(prototype, 'owner')
      JoinColumn({ name: 'owner_ref', referencedColumnName: 'id', foreignKeyConstraintName: 'fk_owner_ref' })(
        prototype,
        'owner',
      )
    },
  },
  {
    decorator: 'JoinColumn',
    options: [],
    code: "@JoinColumn({ referencedColumnName: 'title' })",
    outcome: 'left to TypeORM',
    does: 'A reference to a column other than the key, without a field.',
    declare: ({ prototype, owner }) => {
      ManyToOne(() => owner)(prototype, 'owner')
      JoinColumn({ name: 'owner_title', referencedColumnName: 'title' })(prototype, 'owner')
    },
    tables: 'existing',
  },
  {
    ...OWNED,
    decorator: 'OneToOne',
    code: '@OneToOne(() => Owner) @JoinColumn()',
    outcome: 'carried out',
    does: 'A reference that is unique.',
    values: ['o1', 'o2', 'o3', 'o4', 'o5', 'o6'],
    declare: ({ prototype, owner }) => {
      Column({ type: 'varchar', length: 40, nullable: true, name: 'owner_id' })(prototype, 'ownerId')
      OneToOne(() => owner)(prototype, 'owner')
      JoinColumn({ name: 'owner_id' })(prototype, 'owner')
    },
  },
  {
    decorator: 'OneToMany',
    code: '@OneToMany(() => Item, (item) => item.parent)',
    outcome: 'carried out',
    does: 'The other side of `@ManyToOne()`. Its options and its `@JoinColumn()` have no effect.',
    declare: ({ prototype, entity }) => {
      Column({ type: 'varchar', length: 40, nullable: true, name: 'parent_id' })(prototype, 'parentId')
      ManyToOne(() => entity, 'children', { onDelete: 'SET NULL' })(prototype, 'parent')
      JoinColumn({ name: 'parent_id' })(prototype, 'parent')
      OneToMany(() => entity, 'parent', { onDelete: 'CASCADE', cascade: true })(prototype, 'children')
    },
    property: 'parentId',
    field: optional(TEXT),
    designType: String,
    shows: async ({ dataSource, entity, items }) => {
      await items.create({ id: 'p', title: 't' })
      await items.create({ id: 'k', title: 't', parentId: 'p' })
      const found = await dataSource
        .getRepository(entity)
        .findOneOrFail({ where: { id: 'p' }, relations: { children: true } } as never)
      expect((found['children'] as { readonly id: string }[]).map(({ id }) => id)).to.deep.equal(['k'])
    },
  },
  {
    decorator: 'ManyToMany',
    code: '@ManyToMany(() => Pen) @JoinTable()',
    outcome: 'left to TypeORM',
    does: 'TypeORM reads and writes it. A migration lists the join table, and does not create or drop it.',
    declare: ({ prototype, pen }) => {
      ManyToMany(() => pen)(prototype, 'pens')
      JoinTable()(prototype, 'pens')
    },
    tables: 'existing',
    engines: ['postgres', 'mysql'],
    isOfEachTest: true,
    shows: async ({ dataSource, entity, items, beside }) => {
      const all = dataSource.getRepository(entity)
      const made = await items.create({ id: 'm', title: 't' })
      const pen = await dataSource.getRepository(beside.pen).save({ id: 'p1' })
      await all.save(Object.assign(await all.findOneByOrFail({ id: made.id }), { pens: [pen] }))
      await items.update(made.id, { id: made.id, title: 'u' })
      const found = await all.findOneOrFail({ where: { id: made.id }, relations: { pens: true } } as never)
      expect([found.title, found['pens']]).to.deep.equal(['u', [pen]])
    },
  },
  {
    decorator: 'JoinTable',
    options: ['name', 'joinColumn', 'inverseJoinColumn', 'database', 'schema', 'synchronize'],
    code: "@JoinTable({ name: 'pens_of_items', joinColumn, inverseJoinColumn })",
    outcome: 'left to TypeORM',
    does: 'TypeORM reads and writes it. Only TypeORM uses these options.',
    declare: ({ prototype, pen }) => {
      ManyToMany(() => pen)(prototype, 'pens')
      JoinTable({ name: 'pens_of_items', joinColumn: { name: 'item' }, inverseJoinColumn: { name: 'pen' } })(
        prototype,
        'pens',
      )
    },
    tables: 'existing',
    engines: ['postgres', 'mysql'],
  },
  {
    decorator: 'JoinTable',
    options: ['joinColumns', 'inverseJoinColumns'],
    code: '@JoinTable({ joinColumns: [], inverseJoinColumns: [] })',
    outcome: 'left to TypeORM',
    does: 'TypeORM reads and writes it. Only TypeORM uses these options.',
    declare: ({ prototype, pen }) => {
      ManyToMany(() => pen)(prototype, 'pens')
      JoinTable({
        name: 'pens_of_all',
        joinColumns: [{ name: 'item' }],
        inverseJoinColumns: [{ name: 'pen' }],
      })(prototype, 'pens')
    },
    tables: 'existing',
    engines: ['postgres', 'mysql'],
  },
  {
    ...OWNED,
    decorator: 'RelationId',
    code: '@RelationId((item) => item.owner)',
    outcome: 'left to TypeORM',
    does: 'TypeORM fills it. Ashlar uses the reference itself.',
    field: undefined as never,
    values: undefined as never,
    declare: ({ prototype, owner }) => {
      ManyToOne(() => owner)(prototype, 'owner')
      JoinColumn({ name: 'owner_id' })(prototype, 'owner')
      RelationId((item: { readonly owner?: unknown }) => item.owner)(prototype, 'ownerKey')
    },
    property: 'ownerKey',
  },
]
