import { expect } from 'chai'
import {
  Column,
  CreateDateColumn,
  DeleteDateColumn,
  Generated,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  UpdateDateColumn,
  VersionColumn,
  VirtualColumn,
} from 'typeorm'
import { INT, TEXT, TIME, WIDE } from './declared-row.js'
import type { Row } from './row.js'

const KEY = { replaces: 'key' } as const

/** Keys, times, versions and values that are not in the table. */
export const ROLE_ROWS: readonly Row[] = [
  {
    ...KEY,
    decorator: 'PrimaryColumn',
    code: '@PrimaryColumn()',
    outcome: 'carried out',
    does: "The resource's key, in addition to the tenant.",
    declare: ({ prototype }) => PrimaryColumn({ type: 'varchar', length: 40 })(prototype, 'id'),
  },
  {
    ...KEY,
    decorator: 'Column',
    options: ['primary'],
    code: '@Column({ primary: true })',
    outcome: 'carried out',
    does: 'The same as `@PrimaryColumn()`.',
    declare: ({ prototype }) => Column({ type: 'varchar', length: 40, primary: true })(prototype, 'id'),
  },
  {
    ...KEY,
    decorator: 'PrimaryGeneratedColumn',
    code: '@PrimaryGeneratedColumn()',
    outcome: 'carried out',
    does: 'The database generates the key.',
    keyField: INT,
    designType: Number,
    property: 'id',
    declare: ({ prototype }) => PrimaryGeneratedColumn()(prototype, 'id'),
  },
  {
    ...KEY,
    decorator: 'PrimaryGeneratedColumn',
    options: ['type', 'name', 'comment', 'unsigned', 'primaryKeyConstraintName'],
    code: "@PrimaryGeneratedColumn({ type: 'bigint', name: 'number', comment, unsigned, primaryKeyConstraintName })",
    outcome: 'carried out',
    does: '`type` and `name` are carried out, and the other options have no effect.',
    keyField: WIDE,
    designType: BigInt,
    property: 'id',
    tables: 'new',
    declare: ({ prototype }) =>
      PrimaryGeneratedColumn({
        ...{ type: 'bigint', name: 'number', comment: 'c', unsigned: false },
        primaryKeyConstraintName: 'pk_of_numbers',
      })(prototype, 'id'),
  },
  {
    ...KEY,
    decorator: 'PrimaryGeneratedColumn',
    options: ['generatedIdentity'],
    code: "@PrimaryGeneratedColumn('identity', { generatedIdentity: 'BY DEFAULT' })",
    outcome: 'carried out',
    does: 'PostgreSQL generates the key.',
    keyField: INT,
    designType: Number,
    property: 'id',
    engines: ['postgres'],
    declare: ({ prototype }) =>
      PrimaryGeneratedColumn('identity', { generatedIdentity: 'BY DEFAULT' })(prototype, 'id'),
  },
  {
    ...KEY,
    decorator: 'PrimaryGeneratedColumn',
    options: [],
    code: "@PrimaryGeneratedColumn('uuid')",
    outcome: 'carried out',
    does: 'The repository generates the key.',
    keyField: TEXT,
    designType: String,
    property: 'id',
    isOfEachTest: true,
    declare: ({ prototype }) => PrimaryGeneratedColumn('uuid')(prototype, 'id'),
  },
  {
    decorator: 'Generated',
    code: "@Column('uuid') @Generated('uuid')",
    outcome: 'carried out',
    does: 'The repository generates the UUID if a create does not set it. A number that is not the key is not managed by Ashlar.',
    field: TEXT,
    designType: String,
    values: ['019b0000-0000-7000-8000-000000000001', '019b0000-0000-7000-8000-000000000002'],
    declare: ({ prototype }) => {
      Column('uuid')(prototype, 'worth')
      Generated('uuid')(prototype, 'worth')
    },
  },
  {
    decorator: 'Generated',
    code: "@Column('int') @Generated('increment')",
    outcome: 'left to TypeORM',
    does: 'A number that the database generates and that is not the key.',
    engines: ['postgres'],
    designType: Number,
    isOfEachTest: true,
    declare: ({ prototype }) => {
      Column('int')(prototype, 'worth')
      Generated('increment')(prototype, 'worth')
    },
  },
  ...(
    [
      ['CreateDateColumn', CreateDateColumn, 'Set on create.'],
      ['UpdateDateColumn', UpdateDateColumn, 'Set on each write.'],
    ] as const
  ).map(([decorator, declare, does]): Row => ({
    decorator,
    code: `@${decorator}()`,
    outcome: 'carried out',
    does: `${does} Its field is OUTPUT_ONLY without a decorator.`,
    property: 'writtenAt',
    field: TIME,
    designType: Date,
    declare: ({ prototype }) => declare({ precision: 6 })(prototype, 'writtenAt'),
    shows: async ({ items, dataSource, entity }) => {
      const [first] = (await items.list()).items
      expect(first?.['writtenAt']).to.be.instanceOf(Date)
      const read = await dataSource.getRepository(entity).findOneByOrFail({ id: first?.id as string })
      expect(read['writtenAt']).to.deep.equal(first?.['writtenAt'])
    },
  })),
  {
    decorator: 'DeleteDateColumn',
    code: '@DeleteDateColumn()',
    outcome: 'carried out',
    does: 'A delete keeps the row and sets the column, as `softRemove` does.',
    replaces: 'deletion',
    designType: Date,
    property: 'goneAt',
    isOfEachTest: true,
    declare: ({ prototype }) => DeleteDateColumn({ precision: 6 })(prototype, 'goneAt'),
  },
  {
    decorator: 'VersionColumn',
    code: '@VersionColumn()',
    outcome: 'carried out',
    does: 'Each write increments it.',
    property: 'version',
    field: INT,
    designType: Number,
    isOfEachTest: true,
    declare: ({ prototype }) => VersionColumn()(prototype, 'version'),
    shows: async ({ items, dataSource, entity }) => {
      const made = await items.create({ id: 'v', title: 't' })
      expect(made['version']).to.equal(1)
      expect((await items.update('v', { title: 'u' }, ['title']))['version']).to.equal(2)
      const manager = dataSource.getRepository(entity)
      await manager.save(Object.assign(await manager.findOneByOrFail({ id: 'v' }), { title: 'w' }))
      expect((await items.get('v'))['version']).to.equal(3)
    },
  },
  {
    decorator: 'VirtualColumn',
    options: ['type', 'query', 'select', 'hstoreType', 'transformer'],
    code: '@VirtualColumn({ query })',
    outcome: 'left to TypeORM',
    does: 'TypeORM computes it. A repository never does.',
    designType: Number,
    isOfEachTest: true,
    declare: ({ prototype }) =>
      VirtualColumn({
        ...{ type: 'int', query: (alias: string) => `SELECT length(${alias}.title)`, select: true },
        ...{ hstoreType: 'object', transformer: { to: Number, from: Number } },
      } as never)(prototype, 'worth'),
    shows: async ({ dataSource, entity, items }) => {
      const [first] = await dataSource.getRepository(entity).find()
      expect(first?.['worth']).to.equal(first?.title.length)
      expect(await items.get(first?.id as string)).to.not.have.property('worth')
    },
  },
]
