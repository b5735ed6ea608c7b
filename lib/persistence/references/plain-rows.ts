import type { Field } from '../../resource/fields/field.js'
import type { OwningRelation } from '../../resource/relations/relation.js'
import type { Values } from '../contract/new-entity.js'
import type { Target } from './row-target.js'
import type { Executor, RunOptions } from '../engines/executor/executor.js'

/** A row that another one is about to refer to. */
export interface Parent {
  readonly relation: OwningRelation
  /** What tells it: its tenant, where the reference holds one, its key, and the other parts of its name. */
  readonly values: readonly string[]
  /** Selects it while it is live, and locks it; the values are bound in their order. */
  readonly select: (bind: (field: Field) => string, lock: boolean) => string
}

/** Reads and writes one row. The parents of a write are taken by its statement. */
export interface PlainRows<E> {
  get(on: Executor, target: Target, run: RunOptions): Promise<E | undefined>
  insert(on: Executor, values: Readonly<Values>, run: RunOptions, parents: readonly Parent[]): Promise<E>
  /** Undefined where no row matches. */
  update(
    on: Executor,
    target: Target,
    patch: Readonly<Values>,
    run: RunOptions,
    parents: readonly Parent[],
  ): Promise<E | undefined>
}

/** The methods of one class on an object of a subclass. */
export const plainRows = <E>(rows: PlainRows<E>, of: Omit<PlainRows<unknown>, 'get'>): PlainRows<E> => ({
  get: (...operands) => rows.get(...operands),
  insert: (...operands) => of.insert.apply(rows, operands) as Promise<E>,
  update: (...operands) => of.update.apply(rows, operands) as Promise<E | undefined>,
})

/** Nothing was inserted, because a row that the statement takes is not there. It never leaves this folder's functions. */
export class MissingParent extends TypeError {
  constructor() {
    super('a row that is referred to is missing')
  }
}

export const valuesOf = (parents: readonly Parent[]): readonly string[] =>
  parents.flatMap(({ values }) => values)
