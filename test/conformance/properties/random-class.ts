import fc from 'fast-check'
import 'reflect-metadata'
import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { Resource } from '../../../decorators/resource.js'
import { ETag } from '../../../decorators/server-set.js'
import { SoftDeletable } from '../../../decorators/soft-deletable.js'
import { TenantScoped } from '../../../decorators/tenant-scoped.js'
import { drill } from '../../support/drill.js'

/** How a class declares a property: first those of a value, then those of none. */
const FORMS = [
  ...['bare', 'declared', 'initialised', 'inherited', 'overridden', 'sealed'],
  ...['accessor', 'private accessor', 'inherited accessor', 'getter', 'method', 'read-only'],
] as const

type Kind = 'text' | 'number' | 'flag' | 'time' | 'list'

export type Values = Record<string, unknown>

export interface Property {
  readonly name: string
  readonly kind: Kind
  readonly form: string
  readonly nullable: boolean
  /** For a text. */
  readonly isUnique: boolean
  /** The name of the column, where it is said. */
  readonly column: string | undefined
}

export interface Shape {
  readonly properties: readonly Property[]
  readonly key: string
  readonly tenantScoped: boolean
  readonly softDeletable: boolean
  readonly versioned: boolean
}

/** Names to which the language, an engine, a driver or a statement of ours gives a meaning. */
const TAKEN = [
  ...Object.getOwnPropertyNames(Object.prototype),
  ...Object.getOwnPropertyNames(Function.prototype),
  ...Object.getOwnPropertyNames(Promise.prototype),
  ...[
    'toJSON',
    '$typeName',
    '$unknown',
    'accountId',
    'account_id',
    'deleteTime',
    'expire_time',
    'id',
    'name',
  ],
  ...['etag', 'softDeleteKey', 'soft_delete_key', 'deleteId', 'delete_id', 'partitionkey', 'searchVector'],
  ...['select', 'order', 'group', 'from', 'table', 'user', 'key', 'limit', 'rank', 'row', 'values', 'null'],
  ...[
    'ctid',
    'xmin',
    'oid',
    'tableoid',
    'rowid',
    '_rowid_',
    'excluded',
    'new',
    'old',
    'default',
    'ordinality',
  ],
  ...[
    '*',
    '',
    ' ',
    'a b',
    'a ',
    ' a',
    'a.b',
    'a"b',
    "a'b",
    'a`b',
    'a\\b',
    'a?b',
    '?',
    '$1',
    ':id',
    '@a',
    '%s',
  ],
  ...['${x}', 'a\nb', 'a\0b', 'a;--', '/*', '[0]', 'a/b', '0', '1', '-1', '01', '1e3', '4294967295', '2024'],
  ...['\u00e9', '\u00c9', 'e', '\u00df', 'ss', '\u017f', '\u0130', '\u2028', '\ud83d\ude00', '\ud800'],
  ...['A', 'a', 'aB', 'a_b', 'AB', 'ab', 'a1B', 'x'.repeat(64), `${'y'.repeat(63)}1`, `${'y'.repeat(63)}2`],
  ...['\u00e9'.repeat(40), 'r', 't', 'v', 'k', 'd', 'n', 'c0', 'v0', 't0', 'k0'],
]

const nameOf = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(...TAKEN) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) },
  { weight: 1, arbitrary: fc.string({ maxLength: 5 }) },
)

const propertyOf: fc.Arbitrary<Property> = fc.record({
  name: nameOf,
  kind: fc.constantFrom('text', 'text', 'number', 'flag', 'time', 'list'),
  form: fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...FORMS.slice(0, 6)) },
    { weight: 1, arbitrary: fc.constantFrom(...FORMS) },
  ),
  nullable: fc.boolean(),
  isUnique: fc.boolean(),
  column: fc.option(nameOf, { nil: undefined, freq: 4 }),
})

const FLAG = fc.boolean()

export const shapes: fc.Arbitrary<Shape> = fc.record({
  properties: fc.uniqueArray(propertyOf, {
    ...{ minLength: 1, maxLength: drill(4, 7), size: 'max' },
    selector: ({ name }) => name,
  }),
  key: fc.constantFrom('id', 'id', 'id', 'name'),
  ...{ tenantScoped: FLAG, softDeletable: FLAG, versioned: FLAG },
})

const TYPES = { text: String, number: Number, flag: Boolean, time: Date, list: Object } as const

const COLUMN_TYPES = { number: 'double precision', list: 'simple-json' } as const

/** The class of a shape, as a compiler would have made it. */
export function classOf(shape: Shape, table: string): new () => object {
  const { properties, key } = shape
  const declare = (on: object, name: string, type: unknown, ...decorators: readonly PropertyDecorator[]) => {
    Reflect.defineMetadata('design:type', type, on, name)
    for (const decorate of decorators) decorate(on, name)
  }
  class Base {
    constructor() {
      for (const { name, form } of properties) if (form === 'overridden') define(this, name, 'of the base')
    }
  }
  class Thing extends Base {
    readonly #held = new Map<string, unknown>()

    constructor() {
      super()
      for (const { name, kind, form } of properties)
        if (form === 'declared' || form === 'overridden') define(this, name, undefined)
        else if (form === 'initialised') define(this, name, valueOf(kind, 'initial'))
        else if (form === 'sealed') define(this, name, undefined, { configurable: false })
        else if (form === 'read-only') define(this, name, undefined, { writable: false })
    }

    static accessorOf(name: string): PropertyDescriptor {
      return accessor(
        (of) => (of as Thing).#held.get(name),
        (of, value) => (of as Thing).#held.set(name, value),
      )
    }
  }
  const shared: Readonly<Record<string, (name: string) => PropertyDescriptor>> = {
    accessor: accessorBySymbol,
    'private accessor': (name) => Thing.accessorOf(name),
    'inherited accessor': accessorBySymbol,
    getter: () => ({ get: () => 'got' }),
    method: () => ({ value: () => 'called', writable: true }),
  }
  declare(Thing.prototype, key, String, PrimaryColumn('varchar', { length: 40 }))
  for (const { name, kind, form, nullable, isUnique, column } of properties) {
    const on = form.startsWith('inherited') ? Base.prototype : Thing.prototype
    // No language compiles an accessor of this name, and decorators find the class by it.
    const made = name === 'constructor' ? undefined : shared[form]?.(name)
    if (made !== undefined) Object.defineProperty(on, name, { configurable: true, ...made })
    const type = kind === 'number' || kind === 'list' ? { type: COLUMN_TYPES[kind] } : {}
    const length = kind === 'text' ? { length: 200 } : {}
    const options = { nullable, ...type, ...length, ...(column === undefined ? {} : { name: column }) }
    declare(on, name, TYPES[kind], Column(options))
    if (kind === 'text' && isUnique && name !== 'accountId') Index({ unique: true })(on, name)
  }
  if (shape.versioned && !properties.some(({ name }) => name === 'etag')) {
    declare(Thing.prototype, 'etag', String, ETag())
  }
  if (shape.softDeletable) SoftDeletable()(Thing)
  if (shape.tenantScoped) TenantScoped()(Thing)
  Entity(table)(Thing)
  Resource(shape.tenantScoped ? {} : { shared: true })(Thing)
  return Thing
}

const define = (on: object, name: string, value: unknown, how: PropertyDescriptor = {}): void =>
  void Object.defineProperty(on, name, {
    ...{ value, configurable: true, enumerable: true, writable: true },
    ...how,
  })

const accessor = (
  read: (of: object) => unknown,
  write: (of: object, value: unknown) => void,
): PropertyDescriptor => ({
  get(this: object) {
    return read(this)
  },
  set(this: object, value: unknown) {
    write(this, value)
  },
})

function accessorBySymbol(name: string): PropertyDescriptor {
  const held = Symbol(name)
  return accessor(
    (of) => Reflect.get(of, held),
    (of, value) => Reflect.set(of, held, value),
  )
}

/** A value for each property, which no other has, as far as the kind has so many. */
export const valuesOf = (properties: readonly Property[], of: string): Values => {
  const values = Object.create(null) as Values
  for (const { name, kind } of properties) values[name] = valueOf(kind, `${of} ${name}`)
  return values
}

function valueOf(kind: Kind, text: string): unknown {
  const number = [...text].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_003, 7)
  switch (kind) {
    case 'text':
      return text.toWellFormed().replaceAll('\0', '0')
    case 'number':
      return number
    case 'flag':
      return number % 2 === 0
    case 'time':
      return new Date(number * 1000)
    case 'list':
      return [number]
  }
}
