import type { DescField } from '@bufbuild/protobuf'
import { getMetadataArgsStorage } from 'typeorm'
import { type ColumnNames, hiddenProperty } from '../../../decorators/columns/column-naming.js'
import type { EntityFacts, PropertyFacts } from '../../../decorators/entity-facts.js'
import type { ReferredKey } from '../../../decorators/relations/reference-columns.js'
import type { TenantDeclaration } from '../../../decorators/tenant-scoped.js'
import type { ArgsOf } from './declaration-rules.js'

/** The declarations of an entity with a linked message. */
interface Declarations {
  readonly classes: ReadonlySet<unknown>
  readonly facts: EntityFacts
  readonly inMessage: ReadonlyMap<string, DescField>
  readonly columns: ReadonlyMap<string, ArgsOf<'columns'>>
  readonly columnNames: ColumnNames
  readonly references: ReadonlyMap<string, ReferredKey>
  readonly tenant: TenantDeclaration
}

/** Columns that determine which rows a caller can access, or that a repository compares and sets. */
const ROLES: ReadonlySet<string> = new Set(['createDate', 'updateDate', 'deleteDate', 'version'])
const KEPT: ReadonlySet<string> = new Set([
  ...['accountId', 'deleteTime', 'expireTime'],
  ...['account_id', 'deleted_at', 'delete_time', 'expire_time', 'delete_id', 'soft_delete_key'],
])

/**
 * Returns the properties that Ashlar cannot store and that TypeORM can manage alone: neither a message field
 * nor a decorator of Ashlar names them, and they do not determine which rows a caller can access.
 */
export function unmanagedProperties(unfit: ReadonlySet<string>, declared: Declarations): ReadonlySet<string> {
  return new Set([...unfit].filter((property) => !isNeeded(property, declared)))
}

function isNeeded(
  property: string,
  { classes, facts, inMessage, columns, columnNames, references, tenant }: Declarations,
): boolean {
  if (inMessage.has(property) || tenant.property === property || tenant.named.includes(property)) return true
  if (isDecorated(facts.properties.get(property))) return true
  const column = columns.get(property)
  if (column !== undefined) {
    const isRole = ROLES.has(column.mode) || column.options.primary === true
    if (isRole || KEPT.has(property) || KEPT.has(columnNames.of(column))) return true
  }
  // A client that can write a reference must not reach another tenant's rows through it.
  const held = [...references].find(([, { relation }]) => relation.propertyName === property)
  if (held === undefined) return !isDeclared(property, classes)
  const own = [...columns.values()].find((one) => columnNames.of(one) === held[0])
  return inMessage.has(own?.propertyName ?? hiddenProperty(property)) || held[0] === tenant.column
}

const isDecorated = (facts: PropertyFacts | undefined): boolean =>
  facts !== undefined &&
  [
    ...[facts.role, facts.default, facts.searchable, facts.renamedFrom, facts.protoField, facts.filterable],
    facts.generated,
  ].some((said) => said !== undefined)

/** Returns true if TypeORM has a column or a relation for the property. */
function isDeclared(property: string, classes: ReadonlySet<unknown>): boolean {
  const { columns, relations, embeddeds, relationIds } = getMetadataArgsStorage()
  const lists = [columns, relations, embeddeds, relationIds] as const
  return lists.some((list) =>
    (list as readonly { readonly target: unknown; readonly propertyName: string }[]).some(
      (one) => classes.has(one.target) && one.propertyName === property,
    ),
  )
}
