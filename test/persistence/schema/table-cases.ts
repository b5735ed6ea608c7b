import { Column, DefaultNamingStrategy, Entity, type EntityOptions, PrimaryColumn } from 'typeorm'
import { Expirable } from '../../../decorators/expirable.js'
import { Resource } from '../../../decorators/resource.js'
import { Searchable } from '../../../decorators/searchable.js'
import { SoftDeletable } from '../../../decorators/soft-deletable.js'
import { TenantScoped } from '../../../decorators/tenant-scoped.js'
import type { NamingOptions } from '../../support/databases/backends.js'

export interface Thing {
  id: string
  accountId: string
  title: string
  size: number
  deleteTime?: Date
  expireTime?: Date
}

/** A resource of its own in that table. */
export function thingOf(options: EntityOptions = {}) {
  @Resource()
  @Entity(options)
  @TenantScoped()
  @SoftDeletable()
  @Expirable({ ttl: '1d' })
  class HTTPThing2 implements Thing {
    @PrimaryColumn() id!: string
    @Searchable() @Column() title!: string
    @Column() size!: number
    accountId!: string
    deleteTime?: Date
    expireTime?: Date
  }
  return HTTPThing2
}

class Loud extends DefaultNamingStrategy {
  override tableName(target: string, given: string | undefined) {
    return `${super.tableName(target, given).toUpperCase()}!`
  }

  override prefixTableName(prefix: string, name: string) {
    return `${name} of ${prefix}`
  }
}

export interface Case {
  readonly what: string
  readonly entity?: EntityOptions
  readonly naming?: NamingOptions
  /** TypeORM's own `tablePath`. */
  readonly path: string
}

export const EVERYWHERE: readonly Case[] = [
  { what: 'the name of the class', path: 'http_thing2' },
  { what: 'a given name', entity: { name: 'Things' }, path: 'Things' },
  { what: 'a prefix', entity: { name: 'things' }, naming: { entityPrefix: 'app_' }, path: 'app_things' },
  { what: 'a prefix of no name', naming: { entityPrefix: 'The "app`s" ' }, path: 'The "app`s" http_thing2' },
  { what: 'a naming strategy', naming: { namingStrategy: new Loud() }, path: 'HTTP_THING2!' },
  {
    what: 'a naming strategy and a prefix',
    naming: { namingStrategy: new Loud(), entityPrefix: 'x' },
    path: 'HTTP_THING2! of x',
  },
]

const NAMES = [
  'inventory',
  'Upper',
  'with space',
  'qu"ote',
  'back`tick',
  "apo'strophe",
  'select',
  'grüße',
  'a?b',
  '$1',
  'a;b--',
]

export const ON_POSTGRES: readonly Case[] = [
  ...NAMES.map((schema) => ({
    what: `@Entity({ schema: ${JSON.stringify(schema)} })`,
    entity: { schema, name: 'things' },
    path: `${schema}.things`,
  })),
  ...NAMES.map((schema) => ({
    what: `DataSource({ schema: ${JSON.stringify(schema)} })`,
    entity: { name: 'things' },
    naming: { schema },
    path: `${schema}.things`,
  })),
  {
    what: 'an entity whose schema is not that of the DataSource',
    entity: { schema: 'mine', name: 'things' },
    naming: { schema: 'theirs', entityPrefix: 'p_' },
    path: 'mine.p_things',
  },
  {
    what: 'an empty schema',
    entity: { schema: '', name: 'things' },
    naming: { schema: 's' },
    path: 's.things',
  },
  { what: 'a name of two parts', entity: { name: 'inventory.things' }, path: 'inventory.things' },
  {
    what: 'a name of two parts and a prefix',
    entity: { name: 'inventory.things' },
    naming: { entityPrefix: 'app_' },
    path: 'app_inventory.things',
  },
]

/** TypeORM ignores schemas there. */
export const IGNORED: readonly Case[] = [
  {
    what: 'a schema, which this engine has not',
    entity: { schema: 'inventory', name: 'things' },
    path: 'things',
  },
]
