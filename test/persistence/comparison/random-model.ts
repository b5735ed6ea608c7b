import fc from 'fast-check'
import 'reflect-metadata'
import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn, Unique } from 'typeorm'
import { CreateTime, ETag, UpdateTime } from '../../../decorators/server-set.js'
import { RenamedFrom } from '../../../decorators/property-mapping.js'
import { Resource } from '../../../decorators/resource.js'
import { SoftDeletable } from '../../../decorators/soft-deletable.js'
import { Tags } from '../../../decorators/tags.js'
import { TenantScoped } from '../../../decorators/tenant-scoped.js'

const KINDS = {
  alpha: 'text',
  beta: 'text',
  gamma: 'number',
  delta: 'flag',
  epsilon: 'time',
  zeta: 'tags',
  eta: 'fraction',
  theta: 'bytes',
  iota: 'json',
} as const

export type Kind = (typeof KINDS)[keyof typeof KINDS]

/** One property of a random entity; a wider one holds every value of a narrower one. */
export interface Property {
  readonly name: string
  readonly kind: Kind
  readonly width: 0 | 1 | 2
  readonly nullable: boolean
  readonly hasDefault: boolean
  readonly rule: 'none' | 'unique' | 'index'
  readonly renamedFrom?: string
}

export interface Model {
  readonly properties: readonly Property[]
  /** Over `beta` and `gamma`, where the model has both. */
  readonly group: 'none' | 'unique' | 'index'
  readonly softDeletable: boolean
  readonly hasEtag: boolean
  readonly hasTimes: boolean
  readonly owner: 'none' | 'optional' | 'required'
  /** A second resource, with a table of its own. */
  readonly hasBaskets: boolean
}

const DEFAULTS: Readonly<Partial<Record<Kind, unknown>>> = {
  text: "it's \\ new",
  number: 7,
  flag: true,
  fraction: 0.5,
}
const INDEXED: readonly Kind[] = ['number', 'flag', 'time', 'fraction']

const propertyOf = (name: keyof typeof KINDS, freq: number): fc.Arbitrary<Property | undefined> => {
  const kind = KINDS[name]
  return fc.option(
    fc.record({
      name: fc.constant(name),
      kind: fc.constant(kind),
      width: fc.constantFrom(0, 1, 2),
      nullable: fc.boolean(),
      hasDefault: fc.boolean(),
      rule:
        kind === 'text'
          ? fc.constantFrom('none', 'unique', 'index')
          : fc.constantFrom('none', 'none', 'index'),
    }),
    { nil: undefined, freq },
  )
}

const modelOf = (freq: number): fc.Arbitrary<Model> =>
  fc
    .record({
      properties: fc
        .tuple(...(Object.keys(KINDS) as (keyof typeof KINDS)[]).map((name) => propertyOf(name, freq)))
        .map((properties) => properties.filter((one) => one !== undefined)),
      group: fc.constantFrom('none', 'unique', 'index'),
      softDeletable: fc.boolean(),
      hasEtag: fc.boolean(),
      hasTimes: fc.boolean(),
      owner: fc.constantFrom('none', 'optional', 'required'),
      hasBaskets: fc.boolean(),
    })
    .map(possible)

/**
 * A unique value has no default, an index needs a bounded text, and neither JSON nor bytes have one. Of a
 * unique pair only the text differs from row to row, so that an image without the number needs a default for
 * it.
 */
function possible(model: Model): Model {
  const properties = model.properties.map((property): Property => {
    const { kind, width, nullable } = property
    const isIndexed = kind === 'text' ? width < 2 : INDEXED.includes(kind)
    const rule = isIndexed ? property.rule : 'none'
    const isPaired = model.group === 'unique' && property.name === 'beta'
    const hasDefault =
      model.group === 'unique' && property.name === 'gamma'
        ? property.hasDefault || !nullable
        : property.hasDefault && DEFAULTS[kind] !== undefined && rule !== 'unique' && !isPaired
    return { ...property, rule, hasDefault }
  })
  return { ...model, properties }
}

/**
 * A model and a later one of it. One property may have another name, and then nothing else of it changes; a
 * required reference does not go at once, because no value would let an image leave it out.
 * @param freq - how many properties a model has for each that it lacks.
 */
export const pairs = (freq: number): fc.Arbitrary<readonly [Model, Model]> =>
  fc.tuple(modelOf(freq), modelOf(freq), fc.option(fc.nat())).map(([before, drawn, renames]) => {
    const owner = before.owner === 'required' && drawn.owner === 'none' ? 'optional' : drawn.owner
    const after = possible({ ...drawn, owner })
    const movable = before.properties.filter(({ kind, name }) => kind !== 'tags' && !PAIRED.includes(name))
    const old = renames === null ? undefined : movable[renames % Math.max(1, movable.length)]
    if (old === undefined) return [before, after]
    const renamed = { ...old, name: 'omega', renamedFrom: old.name }
    const rest = after.properties.filter(({ name }) => name !== old.name)
    return [before, { ...after, properties: [...rest, renamed] }]
  })

const PAIRED: readonly string[] = ['beta', 'gamma']

@Resource({ shared: true })
@Entity('owners')
export class Owner {
  @PrimaryColumn() id!: string
}

@Resource()
@Entity('baskets')
@TenantScoped()
class Basket {
  @PrimaryColumn() id!: string
  @Column({ length: 20 }) @Index() label!: string
  accountId!: string
}

/** The entities of a model: classes of its own, as the decorators would have made them. */
export function entitiesOf(model: Model): readonly unknown[] {
  return [thingOf(model), Owner, ...(model.hasBaskets ? [Basket] : [])]
}

function thingOf({ properties, group, softDeletable, hasEtag, hasTimes, owner }: Model) {
  class Thing {}
  const declare = (name: string, type: unknown, ...decorators: readonly PropertyDecorator[]) => {
    Reflect.defineMetadata('design:type', type, Thing.prototype, name)
    for (const decorate of decorators) decorate(Thing.prototype, name)
  }
  declare('id', String, PrimaryColumn())
  for (const property of properties) {
    const { name, kind, width, nullable, hasDefault, rule, renamedFrom } = property
    const options = { nullable, ...(hasDefault ? { default: DEFAULTS[kind] } : {}) }
    const rules = [
      ...(rule === 'index' ? [Index()] : []),
      ...(renamedFrom === undefined ? [] : [RenamedFrom(renamedFrom)]),
    ]
    switch (kind) {
      case 'text':
        if (width === 2) declare(name, String, Column({ ...options, type: 'text' }), ...rules)
        else
          declare(
            name,
            String,
            Column({ ...options, unique: rule === 'unique', length: width === 0 ? 50 : 80 }),
            ...rules,
          )
        break
      case 'number':
        if (width === 0) declare(name, Number, Column('int', options), ...rules)
        else
          declare(
            name,
            BigInt,
            Column('bigint', hasDefault ? { ...options, default: 7n as never } : options),
            ...rules,
          )
        break
      case 'flag':
        declare(name, Boolean, Column(options), ...rules)
        break
      case 'time':
        declare(name, Date, Column(options), ...rules)
        break
      case 'fraction':
        declare(name, Number, Column('double precision', options), ...rules)
        break
      case 'bytes':
        declare(name, Uint8Array, Column({ ...options, type: 'blob' }), ...rules)
        break
      case 'json':
        declare(name, Object, Column({ ...options, type: 'simple-json' }), ...rules)
        break
      case 'tags':
        declare(name, Object, Tags())
    }
  }
  if (hasEtag) declare('etag', String, ETag())
  if (hasTimes) {
    declare('createTime', Date, CreateTime({ filterable: true }))
    declare('updateTime', Date, UpdateTime())
  }
  if (owner !== 'none') {
    const nullable = owner === 'optional'
    declare('ownerId', String, Column({ nullable }))
    declare(
      'owner',
      Owner,
      ManyToOne(() => Owner, { nullable }),
      JoinColumn({ name: 'owner_id' }),
    )
  }
  const paired = properties.filter(
    ({ name, kind, width }) => PAIRED.includes(name) && (kind !== 'text' || width < 2),
  )
  if (group !== 'none' && paired.length === PAIRED.length)
    (group === 'unique' ? Unique([...PAIRED]) : Index([...PAIRED]))(Thing)
  TenantScoped()(Thing)
  if (softDeletable) SoftDeletable()(Thing)
  Entity('things')(Thing)
  Resource()(Thing)
  return Thing
}
