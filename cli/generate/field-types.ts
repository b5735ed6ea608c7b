/** The representations of a `--fields` type in the .proto, the entity and a test. */
export interface FieldType {
  readonly proto: string
  /** The TypeScript type of the entity's property. */
  readonly property: string
  /** The options of `@Column()`, without `nullable`. */
  readonly column: string
  /** Returns an example JSON value as TypeScript source. */
  readonly sample: (field: string) => string
  /**
   * True if the server can detect that a client has omitted it. Numbers and bools without `?` are then 0 and
   * false.
   */
  readonly canBeRequired: boolean
  /** Present if the type has no zero value, so that `!` or `?` is required. */
  readonly needsPresence?: true
  readonly isList?: true
  /** The imports that it needs in the .proto. */
  readonly imports?: string
}

const text = (field: string): string => `'some ${field.replaceAll('_', ' ')}'`
const LATER = "'2026-01-31T13:00:00Z'"
const number = { canBeRequired: false, property: 'number' } as const
const bigNumber = { canBeRequired: false, property: 'bigint', column: '', sample: () => "'7'" } as const

export const FIELD_TYPES: Readonly<Record<string, FieldType>> = {
  string: { proto: 'string', property: 'string', column: '', sample: text, canBeRequired: true },
  text: { proto: 'string', property: 'string', column: "type: 'text'", sample: text, canBeRequired: true },
  'string[]': {
    proto: 'repeated string',
    property: 'string[]',
    column: "type: 'simple-json'",
    sample: (field) => `[${text(field)}]`,
    canBeRequired: true,
    isList: true,
  },
  int32: { ...number, proto: 'int32', column: '', sample: () => '7' },
  uint32: { ...number, proto: 'uint32', column: "type: 'bigint'", sample: () => '7' },
  int64: { ...bigNumber, proto: 'int64' },
  double: { ...number, proto: 'double', column: "type: 'double precision'", sample: () => '1.5' },
  float: { ...number, proto: 'float', column: "type: 'real'", sample: () => '1.5' },
  bool: { proto: 'bool', property: 'boolean', column: '', sample: () => 'true', canBeRequired: false },
  bytes: {
    proto: 'bytes',
    property: 'Uint8Array',
    column: 'type: String',
    sample: () => "'AQID'",
    canBeRequired: true,
  },
  timestamp: {
    proto: 'google.protobuf.Timestamp',
    property: 'Date',
    column: '',
    // The end of a period must be after its start.
    sample: (field) => (/(^|_)(end|until|to)(_|$)/.test(field) ? LATER : "'2026-01-31T12:00:00Z'"),
    canBeRequired: true,
    needsPresence: true,
    imports: 'google/protobuf/timestamp.proto',
  },
  duration: {
    proto: 'google.protobuf.Duration',
    property: 'bigint',
    column: "type: 'bigint'",
    sample: () => "'90s'",
    canBeRequired: true,
    needsPresence: true,
    imports: 'google/protobuf/duration.proto',
  },
}

/** The representations of an `id` type of `--fields` in the entity and in a test. */
export interface KeyType {
  /** The TypeScript type of the property and of references to it. */
  readonly property: string
  /** The argument of `@PrimaryColumn()`, and of `@Column()` in references. */
  readonly column: string
  /** The argument of `@PrimaryGeneratedColumn()`; undefined if the database does not generate the keys. */
  readonly generated?: string
  /**
   * Returns a key for a test as source text.
   * @param name - selects the key.
   */
  readonly sample: (name: SampleKey) => string
}

/** The names of keys in a test. */
export type SampleKey = 'one' | 'secret' | 'missing' | 'kept' | 'first' | 'second'

const NUMBERS: Readonly<Record<SampleKey, number>> = {
  one: 1,
  secret: 2,
  kept: 3,
  first: 11,
  second: 12,
  missing: 1_000_000,
}

const int = { property: 'number', column: "'int'", sample: (name: SampleKey) => `${NUMBERS[name]}` }
const bigint = { ...int, property: 'bigint', column: "'bigint'" }

export const KEY_TYPES = {
  string: { property: 'string', column: '', sample: (name) => name },
  uuid: {
    property: 'string',
    column: "'uuid'",
    sample: (name) => `00000000-0000-4000-8000-${String(NUMBERS[name]).padStart(12, '0')}`,
  },
  int32: int,
  int64: bigint,
  'int32(generated)': { ...int, generated: '' },
  'int64(generated)': { ...bigint, generated: "{ type: 'bigint' }" },
} as const satisfies Readonly<Record<string, KeyType>>
