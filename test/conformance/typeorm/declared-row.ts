import { create, createFileRegistry, type DescMessage } from '@bufbuild/protobuf'
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FileDescriptorProtoSchema,
  file_google_protobuf_timestamp,
} from '@bufbuild/protobuf/wkt'
import { Column, DeleteDateColumn, Entity, PrimaryColumn } from 'typeorm'
import { Emits, Resource, TenantScoped } from '../../../decorators/index.js'
import type { EntityClass } from '../../../lib/resource/resource-model.js'
import { snakeCase } from '../../../lib/text/snake-case.js'
import type { Engine } from '../properties/property-kinds.js'
import type { Row } from './row.js'

/** A field of a message. */
export interface Shown {
  readonly type: Type
  readonly typeName?: string
  readonly isList?: true
  readonly isOptional?: true
}

export const TEXT: Shown = { type: Type.STRING }
export const INT: Shown = { type: Type.INT32 }
export const WIDE: Shown = { type: Type.INT64 }
export const TIME: Shown = { type: Type.MESSAGE, typeName: '.google.protobuf.Timestamp' }
export const PHASE: Shown = { type: Type.ENUM, typeName: '.items.v1.Phase' }
export const optional = (shown: Shown): Shown => ({ ...shown, isOptional: true })

/** A message Item with an id, a title, and the field of a row. */
function messageWith({ field: shown, property = 'worth', keyField = TEXT }: Row): DescMessage {
  return messageOf(
    [
      ['id', keyField],
      ['title', TEXT],
      ...(shown === undefined ? [] : [[snakeCase(property), shown] as const]),
    ],
    shown?.isOptional === true ? [{ name: `_${property}` }] : [],
  )
}

/** A message that has nothing but a key. */
export const keyOnly = (): DescMessage => messageOf([['id', TEXT]])

export function messageOf(
  shownFields: readonly (readonly [string, Shown])[],
  oneofDecl: { readonly name: string }[] = [],
): DescMessage {
  const field = shownFields.map(([name, { isList, isOptional, ...type }], at) => ({
    ...type,
    name,
    jsonName: name,
    number: at + 1,
    label: isList === true ? Label.REPEATED : Label.OPTIONAL,
    ...(isOptional === true && { proto3Optional: true, oneofIndex: 0 }),
  }))
  const file = create(FileDescriptorProtoSchema, {
    name: 'items.proto',
    package: 'items.v1',
    syntax: 'proto3',
    dependency: ['google/protobuf/timestamp.proto'],
    enumType: [
      {
        name: 'Phase',
        value: ['PHASE_UNSPECIFIED', 'PHASE_OPEN', 'PHASE_CLOSED'].map((name, number) => ({ name, number })),
      },
    ],
    messageType: [{ name: 'Item', field, oneofDecl }],
  })
  return createFileRegistry(file, () => file_google_protobuf_timestamp).getMessage(
    'items.v1.Item',
  ) as DescMessage
}

export interface Item {
  id: string
  title: string
  [property: string]: unknown
}

/** The class of a row, in a table of its own, and the classes beside it. */
export interface DeclaredRow {
  readonly row: Row
  readonly entity: EntityClass<Item>
  readonly message: DescMessage
  readonly property: string
}

/** The classes that rows refer to, as an application on that kind of table has them. */
export interface Beside {
  readonly owner: EntityClass<{ id: string; title: string }>
  readonly pen: EntityClass<{ id: string }>
}

export function besides(isExisting: boolean): Beside {
  class Owner {
    @PrimaryColumn({ type: 'varchar', length: 40 }) id!: string
    @Column({ type: 'varchar', length: 40, unique: true }) title!: string
    @Column({ type: 'varchar', length: 40, name: 'account_id' }) accountId!: string
  }
  Entity('owners')(Owner)
  TenantScoped()(Owner)
  Resource(isExisting ? { existing: true, naming: 'typeorm' } : {})(Owner)
  @Entity('pens')
  class Pen {
    @PrimaryColumn({ type: 'varchar', length: 40 }) id!: string
  }
  return { owner: Owner, pen: Pen }
}

/** The class of a row as an application has it, with Ashlar's decorators above. */
export function declaredRow(
  row: Row,
  table: string,
  { owner, pen }: Beside,
  { engine, isExisting }: { readonly engine: Engine; readonly isExisting: boolean },
): DeclaredRow {
  const { designType, property = 'worth', replaces } = row
  class Item {
    id!: string
    title!: string
    accountId!: string
    deletedAt?: Date;
    [name: string]: unknown
  }
  const { prototype } = Item
  if (replaces !== 'key') PrimaryColumn({ type: 'varchar', length: 40 })(prototype, 'id')
  Column({ type: 'varchar', length: 40 })(prototype, 'title')
  Column({ type: 'varchar', length: 40, name: 'account_id' })(prototype, 'accountId')
  if (replaces !== 'deletion' && row.isRemoved !== true)
    DeleteDateColumn({ precision: 6 })(prototype, 'deletedAt')
  if (designType !== undefined) Reflect.defineMetadata('design:type', designType, prototype, property)
  row.declare({ prototype, entity: Item, engine, owner, pen })
  if (replaces !== 'entity') Entity(table)(Item)
  TenantScoped()(Item)
  Emits()(Item)
  const message = messageWith(row)
  Resource({ message, type: table, ...(isExisting && { existing: true, naming: 'typeorm' }) })(Item)
  return { row, entity: Item, message, property }
}
