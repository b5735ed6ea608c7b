import type { DescField } from '@bufbuild/protobuf'
import { getMetadataArgsStorage } from 'typeorm'
import { type ColumnNames, hiddenProperty } from '../../../decorators/columns/column-naming.js'
import type { EntityFacts, PropertyFacts } from '../../../decorators/entity-facts.js'
import type { ReferredKey } from '../../../decorators/relations/reference-columns.js'
import type { TenantDeclaration } from '../../../decorators/tenant-scoped.js'
import type { ArgsOf } from './declaration-rules.js'

/** The known facts of an entity whose message is linked. */
interface Declarations {
  readonly classes: ReadonlySet<unknown>
  readonly facts: EntityFacts
  readonly inMessage: ReadonlyMap<string, DescField>
  readonly columns: ReadonlyMap<string, ArgsOf<'columns'>>
  readonly columnNames: ColumnNames
  readonly references: ReadonlyMap<string, ReferredKey>
  readonly tenant: TenantDeclaration
}

/** Columns of these decide which rows a caller reaches, or what a repository compares and sets. */
const ROLES: ReadonlySet<string> = new Set(['createDate', 'updateDate', 'deleteDate', 'version'])
const KEPT: ReadonlySet<string> = new Set([
  ...['accountId', 'deleteTime', 'expireTime'],
  ...['account_id', 'deleted_at', 'delete_time', 'expire_time', 'delete_id', 'soft_delete_key'],
])

/**
 * The properties among those that Ashlar cannot store which are left to TypeORM: no field of the message and
 * no decorator of Ashlar names them, and they do not decide which rows a caller reaches.
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
  // A client that can write a reference must not reach what another tenant has.
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

/** True if TypeORM has a column or a relation of the property. */
function isDeclared(property: string, classes: ReadonlySet<unknown>): boolean {
  const { columns, relations, embeddeds, relationIds } = getMetadataArgsStorage()
  const lists = [columns, relations, embeddeds, relationIds] as const
  return lists.some((list) =>
    (list as readonly { readonly target: unknown; readonly propertyName: string }[]).some(
      (one) => classes.has(one.target) && one.propertyName === property,
    ),
  )
}
