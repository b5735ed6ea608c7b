import 'reflect-metadata'
import { FieldDescriptorProto_Type as Type } from '@bufbuild/protobuf/wkt'
import { Column, type ColumnOptions } from 'typeorm'
import { EnumLabels } from '../../../decorators/index.js'
import type { BackendName } from '../../support/databases/backends.js'
import { TaskService } from '../../support/gen/plans_pb.js'
import { type Altered, altered } from '../../support/grpc/altered.js'

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
  readonly column: (engine: 'postgres' | 'mysql' | 'sqlite') => readonly PropertyDecorator[]
  readonly designType: unknown
  /** At least three, in their order. */
  readonly values: readonly [Forms, Forms, Forms, ...Forms[]]
  /** What a create rejects, as JSON. */
  readonly wrong: readonly unknown[]
  /** True if TypeORM alone does not read the column so. */
  readonly isOfAshlar?: true
  /** What the column can hold and the message cannot. */
  readonly unreadable?: string
}

/** The service of the resource that has the property. */
export const serviceWith = ({ addTo }: PropertyKind): typeof TaskService =>
  altered(TaskService, (proto) => {
    for (const name of ['project_id', 'project', 'lead_id', 'lead', 'after_id', 'after', 'delete_time'])
      proto.removeField('Task', name)
    const left = ['PlanTask', 'WatchTasks', 'UndeleteTask']
    for (const one of proto.file.service) one.method = one.method.filter(({ name }) => !left.includes(name))
    addTo(proto)
  })

export const engineOf = (name: BackendName): 'postgres' | 'mysql' | 'sqlite' =>
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

export const PROPERTY_KINDS: readonly PropertyKind[] = [
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
    unreadable: 'gone',
  },
  {
    ...OF_PHASES,
    name: 'labels of a text column whose property is the number',
    column: () => [EnumLabels({ ACTIVE: 'x', CLOSED: 'y' }), Column({ type: 'varchar', length: 20 })],
    designType: Number,
    values: labelled(1, 2),
    unreadable: 'gone',
    isOfAshlar: true,
  },
  {
    ...OF_PHASES,
    name: 'a numeric enum in a column of its own type',
    column: (engine) => [nativeEnum({ enum: Numeric })(engine)],
    designType: Number,
    values: labelled(Numeric.Active, Numeric.Closed),
  },
]
