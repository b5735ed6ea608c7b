import { Column, type ColumnOptions } from 'typeorm'
import { OutputOnly } from '../../../decorators/index.js'
import { INT, optional, PHASE, type Shown, TEXT } from './declared-row.js'
import type { Row } from './row.js'

type More = Partial<Omit<Row, 'decorator' | 'code' | 'declare'>> & Pick<Row, 'outcome' | 'does'>

const BASE: ColumnOptions = { type: 'varchar', length: 40 }
const based = (options: ColumnOptions): ColumnOptions =>
  options.type === undefined ? { ...BASE, ...options } : options

/** A column with options beside its type. */
export const column = (
  options: ColumnOptions | ((engine: string) => ColumnOptions),
  code: string,
  more: More,
): Row => ({
  decorator: 'Column',
  code: `@Column(${code})`,
  options: typeof options === 'function' ? [] : Object.keys(options).filter((name) => name !== 'length'),
  declare: ({ prototype, engine }) =>
    Column(based(typeof options === 'function' ? options(engine) : options))(
      prototype,
      more.property ?? 'worth',
    ),
  ...(more.outcome === 'left to TypeORM' ? {} : { field: TEXT }),
  designType: String,
  values: ['one', 'two', 'three'],
  ...more,
})

enum Phase {
  Open = 'open',
  Closed = 'closed',
}

const OF_INTEGER = { field: INT, designType: Number, values: [1, 2, 3] } as const
const HIDDEN = { field: undefined as unknown as Shown } as const
const NATIVE = (engine: string) => (engine === 'sqlite' ? ('simple-enum' as const) : ('enum' as const))

class Place {
  @Column({ type: 'varchar', length: 40, default: '' }) street!: string
}

/** The usual transformer of a decimal. */
const numeric = {
  to: (value: number) => value,
  from: (stored: string | null) => (stored === null ? null : Number(stored)),
}

const upper = {
  to: (text: string) => text && text.toUpperCase(),
  from: (text: string) => text && text.toLowerCase(),
}

export const COLUMN_ROWS: readonly Row[] = [
  column({}, '', {
    outcome: 'carried out',
    does: 'A field of the message, or a property of code.',
    isOfEachTest: true,
  }),
  column({ type: 'int' }, "{ type: 'int' }", {
    ...OF_INTEGER,
    outcome: 'carried out',
    does: 'The type of the column and the class of the property decide which fields can show it.',
  }),
  column({ name: 'the_worth' }, "{ name: 'the_worth' }", {
    outcome: 'carried out',
    does: 'The column has that name.',
  }),
  column({ length: 7 }, '{ length: 7 }', {
    options: ['length'],
    outcome: 'carried out',
    does: 'A longer value is rejected with INVALID_ARGUMENT.',
  }),
  column({ nullable: true }, '{ nullable: true }', {
    outcome: 'carried out',
    does: 'The field is optional in the message.',
    field: optional(TEXT),
    values: ['one', undefined, 'three'],
  }),
  column({ unique: true }, '{ unique: true }', {
    outcome: 'carried out',
    does: 'Unique within the tenant; a conflict fails with ALREADY_EXISTS.',
    values: ['v0', 'v1', 'v2', 'v3', 'v4', 'v5'],
  }),
  column({ select: false }, '{ select: false }', {
    ...HIDDEN,
    outcome: 'carried out',
    does: 'Never in a response or an event. A field that names it must be INPUT_ONLY.',
    isUnselected: true,
  }),
  column({ insert: false, default: 'x' }, "{ insert: false, default: 'x' }", {
    outcome: 'carried out',
    does: 'Omitted from each create, and read back.',
    options: ['insert'],
    created: 'x',
    isOfEachTest: true,
  }),
  column({ update: false }, '{ update: false }', {
    outcome: 'carried out',
    does: 'Set on create. A mask that names it is rejected with INVALID_ARGUMENT, and a full update keeps it.',
    isFixed: true,
  }),
  column({ default: 'new' }, "{ default: 'new' }", {
    outcome: 'carried out',
    does: 'The value if a create does not set one.',
  }),
  column({ default: () => "'new'" }, `{ default: () => "'new'" }`, {
    outcome: 'carried out',
    does: 'Omitted from the create, so that the table fills it, and read back.',
  }),
  column(
    (engine) => ({
      type: engine === 'postgres' ? 'timestamp' : 'datetime',
      precision: 6,
      nullable: true,
      onUpdate: 'CURRENT_TIMESTAMP(6)',
    }),
    "{ onUpdate: 'CURRENT_TIMESTAMP(6)' }",
    {
      outcome: 'carried out',
      does: 'On MySQL and MariaDB, the table sets the column, and the row is read back. Other engines ignore it, as in TypeORM.',
      options: ['onUpdate'],
      ...HIDDEN,
      designType: Date,
      values: undefined as never,
    },
  ),
  column({ comment: 'as on the sign' }, "{ comment: 'as on the sign' }", {
    outcome: 'without effect',
    does: 'The comment does not affect a repository.',
    isOfEachTest: true,
  }),
  column({ type: 'decimal', precision: 12, scale: 2 }, "{ type: 'decimal', precision: 12, scale: 2 }", {
    outcome: 'carried out',
    does: 'The digits of a decimal or of a time; more digits are rejected with INVALID_ARGUMENT.',
    options: ['precision', 'scale'],
    values: ['1.50', '2.00', '3.25'],
    readsOtherwise: ['sqlite'],
  }),
  column({ type: 'int', unsigned: true }, "{ type: 'int', unsigned: true }", {
    ...OF_INTEGER,
    options: ['unsigned'],
    outcome: 'without effect',
    does: 'The message determines whether a number is signed.',
  }),
  column(
    (engine) => ({ collation: engine === 'postgres' ? 'C' : engine === 'mysql' ? 'utf8mb4_bin' : 'BINARY' }),
    "{ collation: 'utf8mb4_bin' }",
    {
      outcome: 'carried out',
      options: ['collation'],
      does: 'Filters and sort orders compare by it.',
      tables: 'existing',
    },
  ),
  column((engine) => ({ type: NATIVE(engine), enum: Phase }), "{ type: 'enum', enum: Phase }", {
    options: ['enum'],
    outcome: 'carried out',
    does: 'An enum field contains the labels. Without such a field, the column is not managed by Ashlar.',
    field: PHASE,
    values: [Phase.Open, Phase.Closed],
  }),
  column(
    (engine) => ({
      type: NATIVE(engine),
      enum: Phase,
      ...(engine === 'postgres' && { enumName: 'phase_of_items' }),
    }),
    "{ type: 'enum', enum: Phase, enumName: 'phase' }",
    {
      options: ['enumName'],
      outcome: 'carried out',
      does: 'PostgreSQL gives the type this name.',
      field: PHASE,
      values: [Phase.Open, Phase.Closed],
    },
  ),
  column(
    (engine) => ({ type: engine === 'postgres' ? 'text' : 'simple-json', array: engine === 'postgres' }),
    "{ type: 'text', array: true }",
    {
      options: ['array'],
      outcome: 'carried out',
      does: 'PostgreSQL stores an array. In a new table, other engines store JSON.',
      field: { ...TEXT, isList: true },
      designType: Array,
      values: [['a'], [], ['a', 'b,c']],
    },
  ),
  column({ transformer: upper }, '{ transformer }', {
    outcome: 'carried out',
    does: 'Runs in both directions, also in TypeORM. No filter or sort order can name the field.',
  }),
  column(
    {
      type: 'decimal',
      precision: 12,
      scale: 2,
      transformer: numeric,
    },
    "{ type: 'decimal', precision: 12, scale: 2, transformer }",
    {
      outcome: 'carried out',
      options: [],
      does: 'A decimal as a number.',
      field: { type: 1 },
      designType: Number,
      values: [1.5, 2, 3.25],
    },
  ),
  column(
    (engine) => ({
      type: NATIVE(engine),
      enum: Phase,
      transformer: { to: (n: string) => n && n.toLowerCase(), from: (s: string) => s && s.toUpperCase() },
    }),
    "{ type: 'enum', enum: Phase, transformer }",
    {
      outcome: 'carried out',
      options: [],
      does: 'A label in another form.',
      values: ['OPEN', 'CLOSED'],
    },
  ),
  {
    ...column({}, "{ type: 'varchar', asExpression: 'upper(title)', generatedType: 'STORED' }", {
      options: ['asExpression', 'generatedType'],
      outcome: 'carried out',
      does: 'With `@OutputOnly({ generated: true })`, the field is read back after each write.',
      tables: 'existing',
      engines: ['postgres', 'mysql'],
      values: undefined as never,
      shows: async ({ items }) => {
        const made = await items.create({ id: 'g', title: 'up' })
        if (made['worth'] !== 'UP') throw new TypeError(`worth is ${String(made['worth'])}`)
      },
    }),
    code: "@OutputOnly({ generated: true }) @Column({ asExpression: 'upper(title)', generatedType: 'STORED' })",
    declare: ({ prototype }) => {
      Column({ type: 'varchar', length: 40, asExpression: 'upper(title)', generatedType: 'STORED' })(
        prototype,
        'worth',
      )
      OutputOnly({ generated: true })(prototype, 'worth')
    },
  },
  column(
    { asExpression: 'upper(title)', generatedType: 'STORED' },
    "{ asExpression: 'upper(title)', generatedType: 'STORED' }",
    {
      outcome: 'left to TypeORM',
      does: 'Without a field, the table computes it.',
      engines: ['postgres', 'mysql'],
      values: undefined as never,
      tables: 'existing',
    },
  ),
  column({ type: 'uuid', generated: 'uuid' }, "{ type: 'uuid', generated: 'uuid' }", {
    options: ['generated'],
    outcome: 'carried out',
    does: 'The repository generates the UUID if a create does not set it. A number that is not the key is not managed by Ashlar.',
    values: ['019b0000-0000-7000-8000-000000000001', '019b0000-0000-7000-8000-000000000002'],
  }),
  column({ charset: 'latin1', nullable: true }, "{ charset: 'latin1', nullable: true }", {
    options: ['charset'],
    outcome: 'left to TypeORM',
    does: 'A property that no field names.',
    engines: ['mysql'],
  }),
  column({ type: 'date', utc: true, nullable: true }, "{ type: 'date', utc: true }", {
    options: ['utc'],
    outcome: 'left to TypeORM',
    does: 'A property that no field names.',
    values: ['2026-01-02', '2026-01-03'],
  }),
  column({ generatedIdentity: 'BY DEFAULT' }, "{ generatedIdentity: 'BY DEFAULT' }", {
    outcome: 'without effect',
    does: 'A key that the database generates is never sent.',
  }),
  column(
    { foreignKeyConstraintName: 'fk_of_worth', primaryKeyConstraintName: 'pk_of_worth' },
    '{ primaryKeyConstraintName, foreignKeyConstraintName }',
    { outcome: 'without effect', does: 'Only TypeORM uses the names of constraints.' },
  ),
  {
    decorator: 'Column',
    options: ['prefix'],
    code: "@Column(() => Place, { prefix: 'at' })",
    outcome: 'left to TypeORM',
    does: 'An embedded class that no field names.',
    declare: ({ prototype }) => Column(() => Place, { prefix: 'at' })(prototype, 'worth'),
    values: ['a', 'b', 'c'].map((street) => Object.assign(new Place(), { street })),
  },
  column({ type: 'time', nullable: true }, "{ type: 'time', nullable: true }", {
    options: [],
    outcome: 'left to TypeORM',
    does: 'Without a field, a type that Ashlar cannot store is not managed by Ashlar.',
    values: ['10:00:00', '11:00:00'],
    isOfEachTest: true,
  }),
]
