import { expect } from 'chai'
import {
  AfterInsert,
  AfterLoad,
  AfterRecover,
  AfterRemove,
  AfterSoftRemove,
  AfterUpdate,
  BeforeInsert,
  BeforeRecover,
  BeforeRemove,
  BeforeSoftRemove,
  BeforeUpdate,
  Check,
  Column,
  Entity,
  type EntityOptions,
  EventSubscriber,
  Exclusion,
  ForeignKey,
  Index,
  type IndexOptions,
  Unique,
} from 'typeorm'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { ErrConflict } from '../../../lib/errors.js'
import { rejection } from '../../support/rejection.js'
import type { Lives } from './lives.js'
import { optional, TEXT } from './declared-row.js'
import type { Outcome, Row } from './row.js'

const shown = (options: object): string =>
  `{ ${Object.entries(options)
    .map(([name, value]) => `${name}: ${JSON.stringify(value).replaceAll('"', "'")}`)
    .join(', ')} }`

let tables = 0

const entity = (options: EntityOptions, outcome: Outcome, does: string, more: Partial<Row> = {}): Row => ({
  decorator: 'Entity',
  options: Object.keys(options),
  code: `@Entity(${shown(options)})`,
  outcome,
  does,
  replaces: 'entity',
  declare: (around) => Entity({ name: `things_${++tables}`, ...options })(around.entity),
  ...more,
})

const index = (
  options: IndexOptions & { readonly synchronize?: boolean },
  outcome: Outcome,
  does: string,
  more: Partial<Row> = {},
): Row => ({
  decorator: 'Index',
  options: Object.keys(options),
  code: `@Index(['title'], ${shown(options)})`,
  outcome,
  does,
  declare: (around) => Index(['title'], options)(around.entity),
  ...more,
})

const MONGO = 'Only MongoDB supports it.'

/** `title` is unique among rows of a tenant. */
const conflicts = async ({ items }: Lives): Promise<void> => {
  await items.create({ id: 'u1', title: 'once' })
  await rejection(items.create({ id: 'u2', title: 'once' }), ErrConflict)
}

const listener = (
  decorator: string,
  declare: () => PropertyDecorator,
  does: string,
  more: Partial<Row> = {},
): Row => {
  const row: Row = {
    decorator,
    code: `@${decorator}() stamp() { … }`,
    outcome: 'carried out',
    does,
    declare: ({ prototype }) => {
      Reflect.set(prototype, 'stamp', function () {
        called.add(decorator)
      })
      declare()(prototype, 'stamp')
    },
    ...more,
    shows: () => {
      expect([...called]).to.include(decorator)
      return Promise.resolve()
    },
  }
  return row
}
const called = new Set<string>()

const BOTH = 'Repositories call it as TypeORM does.'

/** Options of the class, its indexes and constraints, and its listeners. */
export const CLASS_ROWS: readonly Row[] = [
  {
    decorator: 'Entity',
    options: ['name'],
    code: "@Entity('things')",
    outcome: 'carried out',
    does: 'The table of the resource.',
    replaces: 'entity',
    declare: (around) => Entity(`things_${++tables}`)(around.entity),
  },
  entity({ orderBy: { title: 'ASC' } }, 'without effect', 'A list is sorted by `order_by` and the key.'),
  entity(
    { engine: 'InnoDB' },
    'without effect',
    'MySQL and MariaDB use InnoDB anyway. Another engine is rejected.',
  ),
  entity(
    { synchronize: false },
    'without effect',
    'Migrations create the table, unless it belongs to another application.',
    { tables: 'new' },
  ),
  entity({ withoutRowid: true }, 'without effect', 'Tables are created without this option.', {
    engines: ['sqlite'],
  }),
  entity({ comment: 'all' }, 'without effect', 'Only TypeORM uses the comment.'),
  entity({ database: 'shop' }, 'carried out', 'The database of the table on MySQL and MariaDB.', {
    engines: [],
  }),
  entity({ schema: 'public' }, 'carried out', 'The schema of the table on PostgreSQL.', {
    engines: ['postgres'],
  }),
  {
    decorator: 'Index',
    code: "@Index(['title'])",
    outcome: 'carried out',
    does: 'In a new table, the tenant column comes first.',
    declare: (around) => Index(['title'])(around.entity),
    isOfEachTest: true,
  },
  index(
    { unique: true },
    'carried out',
    'Unique within the tenant in a new table; a conflict fails with ALREADY_EXISTS.',
    { isRemoved: true, shows: conflicts },
  ),
  index({ where: 'title IS NOT NULL' }, 'carried out', 'Created as in TypeORM.', {
    engines: ['postgres', 'sqlite'],
  }),
  index({ synchronize: false }, 'without effect', 'The index is created elsewhere.'),
  index({ spatial: true }, 'carried out', 'Created as in TypeORM, on columns that Ashlar does not manage.', {
    engines: [],
    property: 'place',
    code: "@Column('point') @Index({ spatial: true })",
    declare: ({ prototype }) => {
      Column('point')(prototype, 'place')
      Index({ spatial: true })(prototype, 'place')
    },
  }),
  index({ fulltext: true }, 'carried out', 'Created as in TypeORM. Search does not use it.', {
    engines: ['mysql'],
  }),
  index({ fulltext: true, parser: 'ngram' }, 'carried out', 'Created as in TypeORM.', {
    options: ['parser'],
    engines: [],
  }),
  index({ nullFiltered: true }, 'without effect', 'Only Spanner supports it.'),
  index({ sparse: true }, 'without effect', MONGO),
  index({ background: true }, 'without effect', MONGO),
  index({ expireAfterSeconds: 9 }, 'without effect', `${MONGO} @Expirable() removes rows.`),
  index({ concurrent: true }, 'without effect', 'A migration determines how an index is created.', {
    tables: 'new',
  }),
  index({ type: 'hash' }, 'carried out', 'PostgreSQL creates an index of that type.', {
    engines: ['postgres'],
  }),
  {
    decorator: 'Unique',
    code: "@Unique(['title'])",
    outcome: 'carried out',
    does: 'Unique within the tenant in a new table; a conflict fails with ALREADY_EXISTS.',
    declare: (around) => Unique(['title'])(around.entity),
    isRemoved: true,
    shows: conflicts,
  },
  {
    decorator: 'Unique',
    options: ['deferrable'],
    code: "@Unique(['title'], { deferrable: 'INITIALLY DEFERRED' })",
    outcome: 'carried out',
    does: 'The table defines it.',
    declare: (around) => Unique(['title'], { deferrable: 'INITIALLY DEFERRED' })(around.entity),
    tables: 'existing',
    engines: ['postgres'],
    isRemoved: true,
    shows: conflicts,
  },
  {
    decorator: 'Check',
    code: "@Check('length(title) > 0')",
    outcome: 'without effect',
    does: 'The table enforces it.',
    declare: (around) => Check(`title_${++tables}`, 'length(title) > 0')(around.entity),
    tables: 'existing',
  },
  {
    decorator: 'Exclusion',
    options: ['deferrable'],
    code: "@Exclusion('USING btree (id WITH =)')",
    outcome: 'without effect',
    does: 'The table enforces it.',
    declare: (around) =>
      Exclusion(`excluded_${++tables}`, 'USING btree (id WITH =)', { deferrable: 'INITIALLY IMMEDIATE' })(
        around.entity,
      ),
    tables: 'existing',
    engines: ['postgres'],
  },
  {
    decorator: 'ForeignKey',
    options: ['name', 'onDelete', 'onUpdate', 'deferrable'],
    code: '@ForeignKey(() => Owner, { name, onDelete, onUpdate, deferrable })',
    outcome: 'without effect',
    does: 'The table enforces it.',
    property: 'ownerId',
    field: optional(TEXT),
    designType: String,
    values: ['o1', 'o2', 'o3'],
    declare: ({ prototype, owner, engine }) => {
      Column({ type: 'varchar', length: 40, nullable: true })(prototype, 'ownerId')
      ForeignKey(() => owner, {
        ...{ name: `fk_to_owner_${++tables}`, onDelete: 'CASCADE', onUpdate: 'CASCADE' },
        ...(engine === 'postgres' && { deferrable: 'INITIALLY IMMEDIATE' }),
      })(prototype, 'ownerId')
    },
    tables: 'existing',
  },
  listener('BeforeInsert', BeforeInsert, 'Called before a create; the values that it sets are written.', {
    isOfEachTest: true,
  }),
  listener('AfterInsert', AfterInsert, BOTH),
  listener('BeforeUpdate', BeforeUpdate, BOTH),
  listener('AfterUpdate', AfterUpdate, BOTH),
  listener('AfterLoad', AfterLoad, BOTH),
  listener('BeforeSoftRemove', BeforeSoftRemove, 'Called on a delete that keeps the row.'),
  listener('AfterSoftRemove', AfterSoftRemove, 'Called on a delete that keeps the row.'),
  listener('BeforeRecover', BeforeRecover, 'Called on an undelete.'),
  listener('AfterRecover', AfterRecover, 'Called on an undelete.'),
  listener('BeforeRemove', BeforeRemove, 'Called on a delete that removes the row.', { isRemoved: true }),
  listener('AfterRemove', AfterRemove, 'Called on a delete that removes the row.', { isRemoved: true }),
  {
    decorator: 'EventSubscriber',
    code: '@EventSubscriber() class Watcher { … }',
    outcome: 'carried out',
    does: "The DataSource's subscribers are called as in TypeORM.",
    declare: () => EventSubscriber()(class Watcher {}),
    shows: async ({ dataSource, entity }) => {
      const heard: string[] = []
      const subscriber = { listenTo: () => entity, afterInsert: () => void heard.push('insert') }
      dataSource.subscribers.push(subscriber)
      const items = new TypeormRepository(dataSource, entity)
      await items.create({ id: 'w', title: 't' })
      dataSource.subscribers.splice(dataSource.subscribers.indexOf(subscriber), 1)
      expect(heard).to.deep.equal(['insert'])
    },
  },
]
