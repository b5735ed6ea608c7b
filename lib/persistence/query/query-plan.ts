import type { Column } from '../../resource/fields/field.js'
import type { PlanValue } from '../../resource/kinds/kind.js'
import type { ResourceModel } from '../../resource/resource-model.js'

export type { PlanValue } from '../../resource/kinds/kind.js'

/** A column in a plan. `any` stands for an unknown type, whose literals are bound as written. */
export interface PlanColumn extends Omit<Column, 'kind'> {
  readonly kind: Column['kind'] | 'any'
  /** The number of characters or bytes from the start that are compared. Default: all. */
  readonly first?: number
  /**
   * The related row that contains the column. Undefined for the plan's own row. If the related row does not
   * exist, the column is NULL.
   */
  readonly of?: RelatedRow
  /** True if every existing row has a value. */
  readonly isSet?: true
}

/** A related row of another resource, or several. */
export interface RelatedRow {
  readonly target: ResourceModel
  /** The row that refers to it. Undefined for the plan's own row. */
  readonly from: RelatedRow | undefined
  /**
   * Pairs of columns that must be equal, of the referring row and of the target. If both have a tenant, it is
   * one of the pairs.
   */
  readonly pairs: readonly { readonly from: PlanColumn; readonly to: PlanColumn }[]
  /** Further conditions on the target's row: it must be live, and the caller must be allowed to reach it. */
  readonly where: FilterNode
}

export type CompareOp = '=' | '!=' | '<' | '<=' | '>' | '>='

/**
 * Compares a column, or the tag `key` of a tags column, with a value. Unknown (NULL) if either side is NULL.
 */
export interface CompareNode {
  readonly kind: 'compare'
  readonly column: PlanColumn
  readonly key: string | undefined
  readonly op: CompareOp
  readonly value: PlanValue
  /**
   * The value is a time as read, in milliseconds. It matches all stored times that are read as this value.
   */
  readonly isRead?: true
}

/** A case-sensitive substring test without wildcards. */
export interface ContainsNode {
  readonly kind: 'contains'
  readonly column: PlanColumn
  readonly key: string | undefined
  readonly value: string
}

/** True if the column is NULL. Never unknown. */
export interface NullNode {
  readonly kind: 'null'
  readonly column: PlanColumn
}

/** True if a list of scalars contains the value, in its proto3 JSON form. Never unknown. */
export interface ElementNode {
  readonly kind: 'element'
  readonly column: PlanColumn
  readonly value: string | number | boolean
}

/**
 * True if the column has one of the values. Unknown for NULL. Databases must be able to store all of the
 * values.
 */
export interface AmongNode {
  readonly kind: 'among'
  readonly column: PlanColumn
  readonly values: readonly PlanValue[]
}

/** True if the tags contain the key. Never unknown; NULL contains no keys. */
export interface HasNode {
  readonly kind: 'has'
  readonly column: PlanColumn
  readonly key: string
}

/** True if one of the related rows matches their own plan. Never unknown. */
export interface SomeNode {
  readonly kind: 'some'
  readonly rows: RelatedRow
  readonly node: FilterNode
}

/** Compares several columns with values; the first difference decides. The columns must not be nullable. */
export interface RowNode {
  readonly kind: 'row'
  readonly columns: readonly PlanColumn[]
  readonly op: '<' | '>'
  readonly values: readonly PlanValue[]
}

/** A conjunction. True without operands. */
export interface AndNode {
  readonly kind: 'and'
  readonly nodes: readonly FilterNode[]
}

/** A disjunction. False without operands. */
export interface OrNode {
  readonly kind: 'or'
  readonly nodes: readonly FilterNode[]
}

export interface NotNode {
  readonly kind: 'not'
  readonly node: FilterNode
}

/** A filter as a tree, independent of its syntax and of a dialect. Logic is three-valued, as in SQL. */
export type FilterNode =
  | AndNode
  | OrNode
  | NotNode
  | CompareNode
  | ContainsNode
  | NullNode
  | HasNode
  | ElementNode
  | AmongNode
  | SomeNode
  | RowNode

/** Returns the conjunction of nodes, flattened into one list. Undefined nodes are skipped. */
export const and = (...nodes: readonly (FilterNode | undefined)[]): FilterNode => {
  const asked: FilterNode[] = []
  for (const node of nodes) {
    if (node?.kind === 'and') asked.push(...node.nodes)
    else if (node !== undefined) asked.push(node)
  }
  return asked.length === 1 ? (asked[0] as FilterNode) : { kind: 'and', nodes: asked }
}

/** Returns the disjunction of nodes. */
export const or = (...nodes: readonly FilterNode[]): FilterNode =>
  nodes.length === 1 ? (nodes[0] as FilterNode) : { kind: 'or', nodes }

export const not = (node: FilterNode): FilterNode => ({ kind: 'not', node })

export const compare = (column: PlanColumn, op: CompareOp, value: PlanValue): FilterNode => ({
  kind: 'compare',
  column,
  key: undefined,
  op,
  value,
})

export const equals = (column: PlanColumn, value: PlanValue): FilterNode => compare(column, '=', value)

export const isNull = (column: PlanColumn): FilterNode => ({ kind: 'null', column })

export const isNotNull = (column: PlanColumn): FilterNode => not(isNull(column))
