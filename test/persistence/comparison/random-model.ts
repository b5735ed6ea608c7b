import fc from 'fast-check'
import 'reflect-metadata'
import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm'
import { ETag } from '../../../decorators/server-set.js'
import { RenamedFrom } from '../../../decorators/renamed-from.js'
import { Resource } from '../../../decorators/resource.js'
import { SoftDeletable } from '../../../decorators/soft-deletable.js'
import { Tags } from '../../../decorators/tags.js'
import { TenantScoped } from '../../../decorators/tenant-scoped.js'

/** One property of a random entity; `width` is the same or more in a later version of it. */
export interface Property {
  readonly name: string
  readonly kind: 'text' | 'number' | 'flag' | 'time' | 'tags'
  readonly width: 0 | 1 | 2
  readonly nullable: boolean
  readonly hasDefault: boolean
  readonly rule: 'none' | 'unique' | 'index'
  readonly renamedFrom?: string
}

export interface Model {
  readonly properties: readonly Property[]
  readonly softDeletable: boolean
  readonly hasEtag: boolean
  readonly hasOwner: boolean
}

const KINDS = {
  alpha: 'text',
  beta: 'text',
  gamma: 'number',
  delta: 'flag',
  epsilon: 'time',
  zeta: 'tags',
} as const

const propertyOf = (name: keyof typeof KINDS): fc.Arbitrary<Property | undefined> => {
  const kind = KINDS[name]
  return fc.option(
    fc.record({
      name: fc.constant(name),
      kind: fc.constant(kind),
      width: fc.constantFrom(0, 1, 2),
      nullable: fc.boolean(),
      hasDefault: kind === 'time' || kind === 'tags' ? fc.constant(false) : fc.boolean(),
      rule:
        kind === 'text'
          ? fc.constantFrom('none', 'unique', 'index')
          : fc.constantFrom('none', 'none', 'index'),
    }),
    { nil: undefined, freq: 4 },
  )
}

const model = fc.record({
  properties: fc
    .tuple(...(Object.keys(KINDS) as (keyof typeof KINDS)[]).map(propertyOf))
    .map((properties) => properties.filter((one) => one !== undefined).map(plain)),
  softDeletable: fc.boolean(),
  hasEtag: fc.boolean(),
  hasOwner: fc.boolean(),
})

/** A unique value has no default, an index needs a bounded text, and JSON has no index. */
function plain(property: Property): Property {
  const isBounded = property.kind !== 'text' || property.width < 2
  const rule = property.kind === 'tags' || !isBounded ? 'none' : property.rule
  return { ...property, rule, hasDefault: rule === 'unique' ? false : property.hasDefault }
}

/** A model and a later one of it: a type only becomes wider, and one text may have another name. */
export const pairs: fc.Arbitrary<readonly [Model, Model]> = fc
  .tuple(model, model, fc.boolean())
  .map(([before, drawn, renames]) => {
    const old = new Map(before.properties.map((one) => [one.name, one]))
    const properties = drawn.properties.map((property): Property => {
      const was = old.get(property.name)
      if (was === undefined) return property
      return plain({ ...property, width: Math.max(was.width, property.width) as Property['width'] })
    })
    const alpha = old.get('alpha')
    if (!renames || alpha === undefined) return [before, { ...drawn, properties }]
    const renamed = { ...alpha, name: 'omega', renamedFrom: 'alpha' }
    return [before, { ...drawn, properties: [...properties.filter(({ name }) => name !== 'alpha'), renamed] }]
  })

@Resource({ shared: true })
@Entity('owners')
export class Owner {
  @PrimaryColumn() id!: string
}

const DEFAULTS = { text: "it's \\ new", number: 7, flag: true, time: undefined, tags: undefined }

/** A class of its own for each model, as the decorators would have made it. */
export function entityOf({ properties, softDeletable, hasEtag, hasOwner }: Model) {
  class Thing {}
  const declare = (name: string, type: unknown, ...decorators: readonly PropertyDecorator[]) => {
    Reflect.defineMetadata('design:type', type, Thing.prototype, name)
    for (const decorate of decorators) decorate(Thing.prototype, name)
  }
  declare('id', String, PrimaryColumn())
  for (const { name, kind, width, nullable, hasDefault, rule, renamedFrom } of properties) {
    const options = { nullable, ...(hasDefault ? { default: DEFAULTS[kind] } : {}) }
    const rules = [
      ...(rule === 'index' ? [Index()] : []),
      ...(renamedFrom === undefined ? [] : [RenamedFrom(renamedFrom)]),
    ]
    if (kind === 'text') {
      const unique = rule === 'unique'
      if (width === 2) declare(name, String, Column({ ...options, type: 'text' }), ...rules)
      else declare(name, String, Column({ ...options, unique, length: width === 0 ? 50 : 80 }), ...rules)
    } else if (kind === 'number')
      if (width === 0) declare(name, Number, Column('int', options), ...rules)
      else
        declare(
          name,
          BigInt,
          Column('bigint', hasDefault ? { ...options, default: 7n as never } : options),
          ...rules,
        )
    else if (kind === 'flag') declare(name, Boolean, Column(options), ...rules)
    else if (kind === 'time') declare(name, Date, Column(options), ...rules)
    else declare(name, Object, Tags())
  }
  if (hasEtag) declare('etag', String, ETag())
  if (hasOwner) {
    declare('ownerId', String, Column({ nullable: true }))
    declare(
      'owner',
      Owner,
      ManyToOne(() => Owner, { nullable: true }),
      JoinColumn({ name: 'owner_id' }),
    )
  }
  TenantScoped()(Thing)
  if (softDeletable) SoftDeletable()(Thing)
  Entity('things')(Thing)
  Resource()(Thing)
  return Thing
}
