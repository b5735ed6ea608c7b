import type { Column } from '../../resource/fields/field.js'
import type { PlanValue } from '../../resource/kinds/kind.js'
import type { ResourceModel } from '../../resource/resource-model.js'

export type { PlanValue } from '../../resource/kinds/kind.js'

/** A column of a plan. `any` is a column of unknown type: literals are bound as they are written. */
export interface PlanColumn extends Omit<Column, 'kind'> {
  readonly kind: Column['kind'] | 'any'
  /** Only this number of characters or bytes from the start counts. Default: all. */
  readonly first?: number
  /**
   * The row that holds it, where that is not the row of the plan but one that it refers to. Without such a
   * row it is NULL.
   */
  readonly of?: RelatedRow
  /** True if the column has a value in every row that contains it. */
  readonly isSet?: true
}

/** A row of another resource to which a row leads, or several. */
export interface RelatedRow {
  readonly target: ResourceModel
  /** The row that leads to it; undefined for the plan's own row. */
  readonly from: RelatedRow | undefined
  /**
   * Columns with the same value: of the row that leads to it, and of the target. One of them is the tenant
   * where both have one.
   */
  readonly pairs: readonly { readonly from: PlanColumn; readonly to: PlanColumn }[]
  /** Its other conditions, as a plan of the target: it is live, and the caller may reach it. */
  readonly where: FilterNode
}

export type CompareOp = '=' | '!=' | '<' | '<=' | '>' | '>='

/** `key` is the tag that is compared when the column holds tags. Unknown (NULL) when either side is NULL. */
export interface CompareNode {
  readonly kind: 'compare'
  readonly column: PlanColumn
  readonly key: string | undefined
  readonly op: CompareOp
  readonly value: PlanValue
  /** The value is what a time is read as, to the millisecond: it stands for all times that are read as it. */
  readonly isRead?: true
}

/** Substring test, case-sensitive, nothing in `value` is special. */
export interface ContainsNode {
  readonly kind: 'contains'
  readonly column: PlanColumn
  readonly key: string | undefined
  readonly value: string
}

/** True if the column is NULL; never unknown. */
export interface NullNode {
  readonly kind: 'null'
  readonly column: PlanColumn
}

/** True if a list of scalars holds the value, as proto3 JSON writes it; never unknown. */
export interface ElementNode {
  readonly kind: 'element'
  readonly column: PlanColumn
  readonly value: string | number | boolean
}

/**
 * True if the value is one of these; unknown for NULL. None of the values is one that no database can
 * hold.
 */
export interface AmongNode {
  readonly kind: 'among'
  readonly column: PlanColumn
  readonly values: readonly PlanValue[]
}

/** True if the tags hold the key; never unknown, NULL tags hold nothing. */
export interface HasNode {
  readonly kind: 'has'
  readonly column: PlanColumn
  readonly key: string
}

/**
 * True if one of the rows of another resource that lead to the row matches a plan of theirs; never unknown.
 */
export interface SomeNode {
  readonly kind: 'some'
  readonly rows: RelatedRow
  readonly node: FilterNode
}

/** Compares columns with values as one row; the first difference decides. None of the columns is nullable. */
export interface RowNode {
  readonly kind: 'row'
  readonly columns: readonly PlanColumn[]
  readonly op: '<' | '>'
  readonly values: readonly PlanValue[]
}

/** True without operands. */
export interface AndNode {
  readonly kind: 'and'
  readonly nodes: readonly FilterNode[]
}

/** False without operands. */
export interface OrNode {
  readonly kind: 'or'
  readonly nodes: readonly FilterNode[]
}

export interface NotNode {
  readonly kind: 'not'
  readonly node: FilterNode
}

/** The meaning of a filter, independent of text and dialect. Logic is three-valued, as in SQL. */
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

/** All of the nodes, flattened into one list; undefined nodes are skipped. */
export const and = (...nodes: readonly (FilterNode | undefined)[]): FilterNode => {
  const asked: FilterNode[] = []
  for (const node of nodes) {
    if (node?.kind === 'and') asked.push(...node.nodes)
    else if (node !== undefined) asked.push(node)
  }
  return asked.length === 1 ? (asked[0] as FilterNode) : { kind: 'and', nodes: asked }
}

/** Any of the nodes. */
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
