import 'reflect-metadata'
import {
  FieldDescriptorProto_Type as Type,
  file_google_protobuf_duration,
  file_google_protobuf_wrappers,
} from '@bufbuild/protobuf/wkt'
import { file_google_type_date } from 'ashlar-annotations/google/type/date_pb.js'
import { file_google_type_decimal } from 'ashlar-annotations/google/type/decimal_pb.js'
import { Column, type ColumnOptions } from 'typeorm'
import { EnumLabels } from '../../../decorators/index.js'
import type { BackendName } from '../../support/databases/backends.js'
import { TaskService } from '../../support/gen/plans_pb.js'
import { type Altered, altered } from '../../support/grpc/altered.js'

export type Engine = 'postgres' | 'mysql' | 'sqlite'

/** A value in each of its forms. */
export interface Forms {
  /** Of the entity. */
  readonly held: unknown
  /** Of the message, as JSON. */
  readonly json: unknown
  /** Of the message. */
  readonly wire: unknown
  /** In a filter. */
  readonly filter: string
}

/** What a property can be, with the field `worth` of the message that holds it. */
export interface PropertyKind {
  readonly name: string
  readonly addTo: (proto: Altered) => void
  /** The decorators of the property, on one engine. */
  readonly column: (engine: Engine) => readonly PropertyDecorator[]
  readonly designType: unknown
  /** At least three, in their order. */
  readonly values: readonly [Forms, Forms, Forms, ...Forms[]]
  /** What a create rejects, as JSON. */
  readonly wrong: readonly unknown[]
  /** What it rejects in an existing table too. */
  readonly wrongExisting?: readonly unknown[]
  /** True if no order can name it, and filters ask by `:` for an element. */
  readonly isList?: true
  /** True if no filter can name it. */
  readonly isUnfiltered?: true
  /** True if only PostgreSQL has such columns. Repositories store JSON elsewhere. */
  readonly isArray?: true
  /** Of an array: SQL of JSON that an engine without arrays can hold and the message cannot. */
  readonly unreadableJson?: readonly string[]
  /** The same in an existing table. */
  readonly unreadableExisting?: readonly string[]
  /** The engines on which TypeORM alone does not read the column so. */
  readonly otherwiseOn?: readonly Engine[]
  /** SQL of what the column can hold and the message cannot. */
  readonly unreadable?: readonly string[] | ((engine: Engine) => readonly string[])
}

/** The service of the resource that has the property. */
export const serviceWith = ({ addTo }: Pick<PropertyKind, 'addTo'>): typeof TaskService =>
  altered(
    TaskService,
    (proto) => {
      for (const name of ['project_id', 'project', 'lead_id', 'lead', 'after_id', 'after', 'delete_time'])
        proto.removeField('Task', name)
      const left = ['PlanTask', 'WatchTasks', 'UndeleteTask']
      for (const one of proto.file.service) one.method = one.method.filter(({ name }) => !left.includes(name))
      addTo(proto)
    },
    [
      file_google_protobuf_duration,
      file_google_protobuf_wrappers,
      file_google_type_date,
      file_google_type_decimal,
    ],
  )

export const engineOf = (name: BackendName): Engine =>
  name === 'mariadb' || name === 'mysql8'
    ? 'mysql'
    : name === 'postgres' || name === 'pgbouncer'
      ? 'postgres'
      : 'sqlite'

const ENUM = (proto: Altered): void =>
  proto.addField('Task', 'worth', Type.ENUM, { typeName: '.plans.v1.Phase' })

enum Phase {
  Closed = 'closed',
  Active = 'active',
}

enum Other {
  ACTIVE = 'in-use',
  Closed = 'Off',
}

enum Numeric {
  Active = 1,
  Closed = 2,
}

/** In the order of their labels. */
const labelled = (active: unknown, closed: unknown, isReversed = false): PropertyKind['values'] => {
  const forms = [
    { held: active, json: 'ACTIVE', wire: 1, filter: 'ACTIVE' },
    { held: closed, json: 'CLOSED', wire: 2, filter: '"CLOSED"' },
  ] as const
  const [first, last] = isReversed ? ([forms[1], forms[0]] as const) : forms
  return [first, first, last]
}

/** SQLite has `simple-enum` alone. */
const nativeEnum = (options: ColumnOptions) => (engine: string) =>
  Column({ ...options, type: engine === 'sqlite' ? 'simple-enum' : 'enum' })

const OF_PHASES = { addTo: ENUM, wrong: ['PHASE_UNSPECIFIED', 7] }

/** @param element - of the last alone. */
const lists = (
  all: readonly [readonly unknown[], readonly unknown[], readonly unknown[]],
  element: string,
): PropertyKind['values'] => {
  const filter = /^(?:[\d.]+|true)$/.test(element) ? element : JSON.stringify(element)
  const of = (held: readonly unknown[]) => ({ held, json: held, wire: held, filter })
  return [of(all[0]), of(all[1]), of(all[2])]
}

const array = (name: string, type: Type, options: ColumnOptions, ...all: Parameters<typeof lists>) => ({
  name: `an array of ${name}`,
  addTo: (proto: Altered) => proto.addField('Task', 'worth', type, { repeated: true }),
  column: () => [Column({ array: true, ...options })],
  designType: Array,
  isList: true as const,
  isArray: true as const,
  values: lists(...all),
  wrong: [],
  unreadableJson: [`'[null]'`, `'[[]]'`, `'{}'`, `'[{}]'`, `'"x"'`, `'7'`, ...WRONG_JSON[type]!],
})

/** Elements of other types. */
const WRONG_JSON: Partial<Record<Type, readonly string[]>> = {
  [Type.STRING]: [`'["a", 1]'`, `'[true]'`],
  [Type.INT32]: [`'[1, "x"]'`, `'[1.5]'`, `'[true]'`, `'[2147483648]'`],
  [Type.INT64]: [`'["1", true]'`, `'[1.5]'`, `'["9223372036854775808"]'`],
  [Type.DOUBLE]: [`'[1, true]'`],
  [Type.BYTES]: [`'[1]'`, `'["AQI=", false]'`],
  [Type.BOOL]: [`'[1]'`, `'[true, "x"]'`],
  [Type.MESSAGE]: [`'["tomorrow"]'`, `'[1709168523]'`],
  [Type.ENUM]: [`'["gone"]'`, `'["active", true]'`],
}

const amounts = (
  held: (text: string) => unknown,
  json: (text: string) => unknown,
  wire = json,
): PropertyKind['values'] => {
  const of = (text: string) => ({ held: held(text), json: json(text), wire: wire(text), filter: text })
  return [of('-1234567890.50'), of('0.00'), of('9.99'), of('10.10'), of('1234567890.12')]
}
const same = (text: string) => text

/** A column of 12 digits. */
const AMOUNT = { precision: 12, scale: 2 }

const WIDE: PropertyKind['values'] = [
  { held: ['1', '-2'], json: ['1', '-2'], wire: [1n, -2n], filter: '1' },
  { held: [], json: [], wire: [], filter: '1' },
  {
    held: ['9223372036854775807'],
    json: ['9223372036854775807'],
    wire: [2n ** 63n - 1n],
    filter: '9223372036854775807',
  },
]
const BYTES: PropertyKind['values'] = [
  { held: [Uint8Array.of(1, 2)], json: ['AQI='], wire: [Uint8Array.of(1, 2)], filter: '"AQI="' },
  { held: [], json: [], wire: [], filter: '"AQI="' },
  {
    held: [Uint8Array.of(), Uint8Array.of(92)],
    json: ['', 'XA=='],
    wire: [Uint8Array.of(), Uint8Array.of(92)],
    filter: '"XA=="',
  },
]
const PHASES: PropertyKind['values'] = [
  { held: [Phase.Active], json: ['ACTIVE'], wire: [1], filter: 'ACTIVE' },
  { held: [], json: [], wire: [], filter: 'ACTIVE' },
  { held: [Phase.Active, Phase.Closed], json: ['ACTIVE', 'CLOSED'], wire: [1, 2], filter: 'CLOSED' },
]

const wrapped =
  (type: string): PropertyKind['addTo'] =>
  (proto) =>
    proto.addField('Task', 'worth', Type.MESSAGE, { typeName: `.google.protobuf.${type}` })

const plain = (held: unknown, filter = JSON.stringify(held)) => ({ held, json: held, wire: held, filter })
const wide = (held: bigint) => ({ held, json: String(held), wire: held, filter: String(held) })

const far = (held: number) => ({ held, json: String(held), wire: BigInt(held), filter: String(held) })
const digits = (held: string) => ({ held, json: held, wire: BigInt(held), filter: held })

const of = (value: number | boolean) => ({ held: value, json: value, wire: value, filter: String(value) })

const UNREADABLE_TIMES: Readonly<Record<Engine, readonly string[]>> = {
  postgres: [`'infinity'`, `'-infinity'`, `'0044-03-15 12:00:00+00 BC'`, `'12024-02-29'`],
  mysql: [`'0000-00-00'`, `'2024-00-00'`],
  sqlite: [`'2024-02-30'`, `'tomorrow'`, `1709168523`, `'12024-02-29T01:02:03Z'`, `'2024-02-30T01:02:03Z'`],
}

const TIMES = {
  addTo: (proto: Altered) =>
    proto.addField('Task', 'worth', Type.MESSAGE, { typeName: '.google.protobuf.Timestamp' }),
  column: (engine: Engine) => [
    Column({ type: engine === 'postgres' ? 'timestamptz' : 'datetime', precision: 6 }),
  ],
  wrong: ['today', 5],
  unreadable: (engine: Engine) => UNREADABLE_TIMES[engine],
  // TypeORM reads a Date.
  otherwiseOn: ['postgres', 'mysql', 'sqlite'] as const,
}
const times = (held: (text: string) => unknown): PropertyKind['values'] => {
  const time = (text: string) => {
    const ms = Date.parse(text)
    const [seconds, nanos] = [Math.floor(ms / 1000), (((ms % 1000) + 1000) % 1000) * 1e6]
    const wire = { $typeName: 'google.protobuf.Timestamp', seconds: BigInt(seconds), nanos }
    return { held: held(text), json: text.replace('.000Z', 'Z'), wire, filter: JSON.stringify(text) }
  }
  return [
    time('1960-02-29T23:59:59.001Z'),
    time('1970-01-01T00:00:00.000Z'),
    time('2026-03-04T05:06:07.089Z'),
    time('9999-12-31T23:59:59.999Z'),
  ]
}

/** Lists of times. */
const MOMENTS: PropertyKind['values'] = (() => {
  const [early, , late] = times((text) => new Date(text))
  const list = (...all: readonly Forms[]): Forms => ({
    held: all.map(({ held }) => held),
    json: all.map(({ json }) => json),
    wire: all.map(({ wire }) => wire),
    filter: late.filter,
  })
  return [list(early), list(), list(early, late)] as const
})()

const DAYS = {
  column: () => [Column('date')],
  designType: String,
  unreadable: (engine: Engine) =>
    ({
      postgres: [`'infinity'`, `'-infinity'`, `'0044-03-15 BC'`, `'12024-02-29'`],
      mysql: [`'0000-00-00'`, `'2024-00-01'`],
      sqlite: [`'2024-02-30'`, `''`, `'tomorrow'`],
    })[engine],
}
const partsOf = (text: string) => {
  const [year, month, day] = text.split('-').map(Number)
  return { year, month, day }
}
const days = (json: (text: string) => unknown, wire: (text: string) => unknown): PropertyKind['values'] => {
  const one = (text: string) => ({
    held: text,
    json: json(text),
    wire: wire(text),
    filter: JSON.stringify(text),
  })
  return [one('1000-01-01'), one('1969-12-31'), one('2026-03-04'), one('9999-12-31')]
}

export const PROPERTY_KINDS: readonly PropertyKind[] = [
  {
    name: 'a wrapped string',
    addTo: wrapped('StringValue'),
    column: () => [Column({ type: 'varchar', length: 20, nullable: true })],
    designType: String,
    values: [plain(''), plain('a'), plain('b')],
    wrong: [5, 'x'.repeat(21)],
  },
  {
    name: 'a wrapped int64',
    addTo: wrapped('Int64Value'),
    column: () => [Column({ type: 'bigint', nullable: true })],
    designType: BigInt,
    values: [wide(-5n), wide(0n), wide(2n ** 62n)],
    wrong: ['x', 1.5],
    otherwiseOn: ['postgres', 'mysql', 'sqlite'],
  },
  {
    name: 'a wrapped double',
    addTo: wrapped('DoubleValue'),
    column: () => [Column({ type: 'double precision', nullable: true })],
    designType: Number,
    values: [plain(-0.5), plain(0), plain(2.25)],
    wrong: ['x'],
  },
  {
    ...OF_PHASES,
    name: 'a string enum in a column of its own type',
    column: (engine) => [nativeEnum({ enum: Phase })(engine)],
    designType: String,
    values: labelled(Phase.Active, Phase.Closed),
  },
  {
    ...OF_PHASES,
    name: 'a string enum in a simple-enum column',
    column: () => [Column({ type: 'simple-enum', enum: ['closed', 'active'] })],
    designType: String,
    values: labelled('active', 'closed'),
  },
  {
    ...OF_PHASES,
    name: 'a string enum in a text column, with stated labels',
    column: () => [EnumLabels(Other), Column({ type: 'varchar', length: 20 })],
    designType: String,
    values: labelled(Other.ACTIVE, Other.Closed, true),
    unreadable: [`'gone'`, `''`, `'ACTIVE'`],
  },
  {
    ...OF_PHASES,
    name: 'labels of a text column whose property is the number',
    column: () => [EnumLabels({ ACTIVE: 'x', CLOSED: 'y' }), Column({ type: 'varchar', length: 20 })],
    designType: Number,
    values: labelled(1, 2),
    unreadable: [`'gone'`, `''`, `'ACTIVE'`],
    otherwiseOn: ['postgres', 'mysql', 'sqlite'],
  },
  {
    ...OF_PHASES,
    name: 'a numeric enum in a column of its own type',
    column: (engine) => [nativeEnum({ enum: Numeric })(engine)],
    designType: Number,
    values: labelled(Numeric.Active, Numeric.Closed),
  },
  {
    name: 'a list with commas between its elements',
    addTo: (proto) => proto.addField('Task', 'worth', Type.STRING, { repeated: true }),
    column: () => [Column('simple-array')],
    designType: Array,
    isList: true,
    values: lists([['a', 'b'], [], ['ab', 'c d']], 'c d'),
    wrong: [],
    wrongExisting: [['a,b'], ['']],
  },
  {
    name: 'a list of numbers with commas between its elements',
    unreadableExisting: [`'1,x'`, `'x'`],
    addTo: (proto) => proto.addField('Task', 'worth', Type.INT32, { repeated: true }),
    column: () => [Column('simple-array')],
    designType: Array,
    isList: true,
    values: lists([[1, 2], [], [12]], '12'),
    wrong: [['x']],
    otherwiseOn: ['postgres', 'mysql', 'sqlite'],
  },
  {
    ...array('texts', Type.STRING, { type: 'text' }, [['a', 'b,"c\\'], [], ['NULL', 'é {x}']], 'é {x}'),
    unreadable: [`'{NULL}'`, `'{a,NULL}'`, `'{{a},{b}}'`, `'[0:0]={a}'`],
  },
  {
    ...array(
      'strings with a length',
      Type.STRING,
      { type: 'varchar', length: 3 },
      [['a', ''], [], ['abc']],
      'abc',
    ),
    wrong: [['abcd']],
  },
  array('integers', Type.INT32, { type: 'int' }, [[1, -2], [], [12]], '12'),
  { ...array('64-bit integers', Type.INT64, { type: 'bigint' }, [[], [], []], '7'), values: WIDE },
  {
    ...array('numbers', Type.DOUBLE, { type: 'double precision' }, [[0.1, -2e300], [], [1.5]], '1.5'),
    // A session may have fewer digits of a number.
    otherwiseOn: ['postgres'],
    unreadable: [`'{Infinity}'`, `'{1,NaN}'`, `'{NULL}'`],
  },
  {
    ...array('bytes', Type.BYTES, { type: 'bytea' }, [[], [], []], ''),
    column: (engine) => [Column({ array: true, type: engine === 'postgres' ? 'bytea' : 'blob' })],
    values: BYTES,
  },
  array('booleans', Type.BOOL, { type: 'boolean' }, [[false], [], [true, false]], 'true'),
  {
    ...array('decimals', Type.STRING, { type: 'numeric', ...AMOUNT }, [['1.50'], [], ['12.25']], '12.25'),
    unreadableJson: [`'[null]'`, `'["1.5", true]'`, `'[[]]'`],
    otherwiseOn: ['postgres'],
    wrong: [['1.005'], ['ten']],
  },
  {
    ...array('string enums', Type.ENUM, { type: 'enum', enum: Phase }, [[], [], []], ''),
    addTo: (proto) =>
      proto.addField('Task', 'worth', Type.ENUM, { typeName: '.plans.v1.Phase', repeated: true }),
    values: PHASES,
    wrong: [['PHASE_UNSPECIFIED'], [7]],
  },
  {
    ...array('labels in text', Type.ENUM, { type: 'text' }, [[], [], []], ''),
    addTo: (proto) =>
      proto.addField('Task', 'worth', Type.ENUM, { typeName: '.plans.v1.Phase', repeated: true }),
    column: () => [EnumLabels(Phase), Column({ type: 'text', array: true })],
    values: PHASES,
    wrong: [['PHASE_UNSPECIFIED'], [7]],
    unreadable: [`'{gone}'`, `'{active,gone}'`, `'{NULL}'`, `'{{active},{active}}'`],
  },
  {
    ...array('times', Type.MESSAGE, { type: 'timestamptz' }, [[], [], []], ''),
    addTo: (proto) =>
      proto.addField('Task', 'worth', Type.MESSAGE, {
        typeName: '.google.protobuf.Timestamp',
        repeated: true,
      }),
    column: (engine) => [
      Column({ array: true, type: engine === 'postgres' ? 'timestamptz' : 'datetime', precision: 6 }),
    ],
    values: MOMENTS,
    isUnfiltered: true,
    wrong: [['today']],
    unreadable: [`'{infinity}'`, `'{NULL}'`, `'{12024-02-29}'`],
  },
  {
    ...TIMES,
    name: 'a time as string',
    designType: String,
    values: times((text) => text),
  },
  {
    ...TIMES,
    name: 'a time as number',
    designType: Number,
    values: times(Date.parse),
  },
  {
    name: 'bytes as Buffer',
    addTo: (proto) => proto.addField('Task', 'worth', Type.BYTES),
    column: (engine) => [Column({ type: engine === 'postgres' ? 'bytea' : 'blob' })],
    designType: Buffer,
    values: [
      { held: Buffer.from([0]), json: 'AA==', wire: Uint8Array.of(0), filter: '"AA=="' },
      { held: Buffer.from([0, 1]), json: 'AAE=', wire: Uint8Array.of(0, 1), filter: '"AAE="' },
      { held: Buffer.from([255]), json: '/w==', wire: Uint8Array.of(255), filter: '"/w=="' },
    ],
    wrong: ['?'],
  },
  {
    name: 'a boolean in a tinyint',
    addTo: (proto) => proto.addField('Task', 'worth', Type.BOOL),
    column: (engine) => [Column({ type: engine === 'postgres' ? 'boolean' : 'tinyint' })],
    designType: Boolean,
    values: [of(false), of(false), of(true)],
    wrong: [2],
    otherwiseOn: ['mysql', 'sqlite'],
  },
  {
    name: 'an integer in a smallint',
    addTo: (proto) => proto.addField('Task', 'worth', Type.INT32),
    column: () => [Column('smallint')],
    designType: Number,
    values: [of(-32768), of(0), of(32767)],
    wrong: ['x'],
    wrongExisting: [32768],
  },
  {
    ...DAYS,
    name: 'a day in a string of the message',
    addTo: (proto) => proto.addField('Task', 'worth', Type.STRING),
    values: days(
      (text) => text,
      (text) => text,
    ),
    wrong: ['2026-02-30', 'today'],
  },
  {
    ...DAYS,
    name: 'a day in a google.type.Date',
    addTo: (proto) => proto.addField('Task', 'worth', Type.MESSAGE, { typeName: '.google.type.Date' }),
    values: days(partsOf, (text) => ({ $typeName: 'google.type.Date', ...partsOf(text) })),
    wrong: [
      { year: 2026, month: 2, day: 30 },
      { month: 2, day: 3 },
    ],
  },
  {
    name: 'a 64-bit integer as number',
    addTo: (proto) => proto.addField('Task', 'worth', Type.INT64),
    column: () => [Column('bigint')],
    designType: Number,
    values: [far(-(2 ** 53) + 1), far(0), far(2 ** 53 - 1)],
    wrong: ['9007199254740992', 1.5, 'x'],
    unreadable: ['9007199254740992', '-9223372036854775808'],
    otherwiseOn: ['postgres', 'mysql', 'sqlite'],
  },
  {
    name: 'a 64-bit integer as string',
    addTo: (proto) => proto.addField('Task', 'worth', Type.INT64),
    column: () => [Column('bigint')],
    designType: String,
    values: [digits('-9223372036854775808'), digits('0'), digits('9223372036854775807')],
    wrong: ['9223372036854775808', 1.5, 'x'],
    otherwiseOn: ['mysql', 'sqlite'],
  },
  {
    name: 'a decimal as string, in a string of the message',
    addTo: (proto) => proto.addField('Task', 'worth', Type.STRING),
    column: () => [Column('decimal', AMOUNT)],
    designType: String,
    values: amounts(same, same),
    wrong: ['1.005', 'ten', '12345678901', 'NaN'],
    unreadable: (engine) => (engine === 'postgres' ? [`'NaN'`] : []),
    otherwiseOn: ['sqlite'],
  },
  {
    name: 'a decimal as number, in a double of the message',
    addTo: (proto) => proto.addField('Task', 'worth', Type.DOUBLE),
    column: () => [Column('numeric', AMOUNT)],
    designType: Number,
    values: amounts(Number, Number),
    wrong: [1.005, 12345678901],
    unreadable: (engine) => (engine === 'postgres' ? [`'NaN'`] : []),
    otherwiseOn: ['postgres', 'mysql'],
  },
  {
    name: 'a decimal as string, in a google.type.Decimal',
    addTo: (proto) => proto.addField('Task', 'worth', Type.MESSAGE, { typeName: '.google.type.Decimal' }),
    column: () => [Column('decimal', AMOUNT)],
    designType: String,
    values: amounts(
      same,
      (value) => ({ value }),
      (value) => ({ $typeName: 'google.type.Decimal', value }),
    ),
    wrong: [{ value: '1.005' }, { value: 'ten' }],
    unreadable: (engine) => (engine === 'postgres' ? [`'NaN'`] : []),
    otherwiseOn: ['sqlite'],
  },
]
