import { BoundedCache } from '../../bounded-cache.js'
import { Aborted } from '../../errors.js'
import { byCodePoint } from '../../text/code-point-order.js'
import type { Field } from '../../resource/fields/field.js'
import { keyPartOf } from '../../resource/keys/key-part.js'
import { missingTarget } from '../../resource/relations/missing-target.js'
import { isChecked, type OwningRelation } from '../../resource/relations/relation.js'
import { isWritten, type SharedPart, sharedParts } from '../../resource/relations/parts-of-name.js'
import { type ResourceModel, resourceModel } from '../../resource/resource-model.js'
import type { Values } from '../contract/new-entity.js'
import { MissingParent, type Parent } from '../rows/parents.js'
import { isKnown, type Limit, Referable, textIfWritten } from '../rows/referable.js'
import type { SqlCall } from '../rows/row-call.js'
import type { Rows, RowWrite } from '../rows/rows.js'
import type { ReferenceAccess } from '../contract/related-options.js'
import type { LockClause } from '../contract/row-lock.js'
import { equalSql } from '../dialects/column-sql.js'
import type { Dialect } from '../dialects/dialect.js'
import { partSql } from '../dialects/values/part-sql.js'
import { quoteTable } from '../dialects/quote-table.js'
import { toPredicate } from '../dialects/to-predicate.js'
import type { Database, Statement } from '../engines/executor/executor.js'
import { named } from '../engines/executor/named.js'
import { and, compare, type PlanValue } from '../query/query-plan.js'
import { tableNameOf } from '../schema/table-name-of.js'

interface Reference {
  readonly relation: OwningRelation
  readonly target: ResourceModel
  /** True if the target belongs to a tenant, as the resource does. */
  readonly isOwned: boolean
  /** True if the target belongs to no tenant. */
  readonly isShared: boolean
  /** The values that the target must share, if the resource's name begins with the target's name. */
  readonly parts: readonly SharedPart[]
  readonly select: Parent['select']
  /** Reads the target, for code that has to see it. */
  readonly read: ReadTarget
}

/** Reads a row of another resource. */
export type ReadTarget = Rows<object>['get']

/** The references of a write. */
interface Secured {
  readonly parents: readonly Parent[]
  /** Those that the statement itself takes. */
  readonly taken: readonly Parent[]
  /** The first that is known to be missing. */
  readonly missing: Parent | undefined
}

/** One for each reference, and for each shape of a condition that an authorizer has. */
const CACHED_STATEMENTS = 200

/** Other transactions may read and refer to the row, but not delete it before this one ends. */
const FOR_REFERENCE: LockClause = { lock: 'share', wait: 'block' }

/**
 * The references of a resource. A write makes sure of their targets: each is a live row of the same tenant,
 * and stays one until the write is committed. If the resource's name begins with a target's name, the target
 * has that name.
 */
export class References {
  #known: readonly Reference[] | undefined
  readonly #statements = new BoundedCache<string, Statement>(CACHED_STATEMENTS, 'reference_statements')
  private readonly dialect: Dialect

  private constructor(
    private readonly database: Database,
    private readonly model: ResourceModel,
    private readonly reading: (target: ResourceModel) => ReadTarget,
  ) {
    this.dialect = database.dialect
  }

  /** Undefined where the resource refers to nothing. */
  static of(
    database: Database,
    model: ResourceModel,
    reading: (target: ResourceModel) => ReadTarget,
  ): References | undefined {
    return model.relations.some(isChecked) ? new References(database, model, reading) : undefined
  }

  /**
   * True if the statement that writes a row locks what it refers to. On several servers, it would then run on
   * those of other tenants too.
   */
  get areTaken(): boolean {
    return this.dialect.can.writeWith && this.database.isDistributed !== true
  }

  /**
   * The rows that the caller of a write may refer to, determined before a transaction begins for it.
   * References set by hooks are determined later.
   * @param written - the caller's values, row by row.
   */
  async referable(
    access: ReferenceAccess | undefined,
    written: readonly Readonly<Values>[],
  ): Promise<Referable | undefined> {
    if (access === undefined) return undefined
    const referable = new Referable(access)
    for (const values of written)
      for (const { relation, row } of this.#named(values, undefined, values))
        if (isKnown(row)) await referable.ask(relation, row)
    return referable
  }

  /** True if one of these writes a reference, or a part of the name of what it refers to. */
  arePatched(patches: readonly Readonly<Values>[]): boolean {
    return this.#all().some(({ relation, parts }) =>
      patches.some((patch) => isWritten(relation, parts, patch)),
    )
  }

  /** True if patches alone tell what their rows begin to refer to. */
  areKnownIn(patches: readonly Readonly<Values>[], tenant: string | undefined): boolean {
    return (
      (tenant !== undefined || this.model.tenant === undefined) &&
      patches.every((patch) => this.#keptParts(patch).length === 0)
    )
  }

  /**
   * Locks what rows begin to refer to, each target once and in the order of the keys.
   * @returns whether all of it may be referred to.
   */
  async lockAll(
    call: SqlCall,
    patches: readonly Readonly<Values>[],
    tenant: string | undefined,
  ): Promise<boolean> {
    const named = new Map<string, Parent>()
    for (const patch of patches)
      for (const parent of this.#named(patch, tenant, patch))
        named.set(`${parent.relation.property} ${JSON.stringify(parent.row.values)}`, parent)
    const inOrder = [...named].sort(([a], [b]) => byCodePoint(a, b)).map(([, parent]) => parent)
    const { parents, refused } = await this.#limited(call, inOrder, tenant)
    if (refused !== undefined) return false
    for (const parent of parents) if (!(await this.#isThere(call, parent, true))) return false
    return true
  }

  /** Inserts a row that refers to others. @throws InvalidArgument where one of them is missing. */
  async insert<E>(rows: Pick<Rows<E>, 'insert'>, call: SqlCall, write: RowWrite): Promise<E> {
    const secured = await this.#secure(call, write.values, write.row.tenant)
    try {
      if (secured.missing === undefined) return await rows.insert(call, { ...write, parents: secured.taken })
    } catch (error) {
      if (!(error instanceof MissingParent)) throw error
    }
    const missing = await this.#firstMissing(call, secured)
    throw missing ?? changedMeanwhile()
  }

  /**
   * Writes a row that refers to others. Returns undefined if the row does not match.
   * @throws InvalidArgument if the row matches and a row to which it refers is missing.
   */
  async update<E>(
    rows: Pick<Rows<E>, 'get' | 'update'>,
    call: SqlCall,
    write: RowWrite,
  ): Promise<E | undefined> {
    const { row: target, values } = write
    const { precondition, ...row } = target
    const kept = this.#keptParts(values)
    const before = kept.length === 0 ? {} : ((await rows.get(call, row)) as Values | undefined)
    if (before === undefined) return undefined
    const secured = await this.#secure(call, { ...before, ...values }, target.tenant, values)
    const same = kept.map((field) => compare(field, '=', before[field.property] as PlanValue))
    const reached = kept.length === 0 ? target : { ...target, where: and(target.where, ...same) }
    const written =
      secured.missing !== undefined
        ? undefined
        : await rows.update(call, { ...write, row: reached, parents: secured.taken })
    if (written !== undefined || secured.parents.length === 0) return written
    const stored = (await rows.get(call, row)) as Values | undefined
    if (stored === undefined || precondition?.matches(stored) === false) return undefined
    const missing = await this.#firstMissing(call, secured)
    if (missing !== undefined) throw missing
    if (kept.some(({ property }) => stored[property] !== before[property])) throw changedMeanwhile()
    return undefined
  }

  /**
   * Makes sure of what a row begins to refer to while it is deleted or undeleted: a hook has written it. The
   * targets stay locked.
   * @throws InvalidArgument for the first that is missing.
   */
  async check(
    rows: Pick<Rows<object>, 'get'>,
    call: SqlCall,
    { row: { key, tenant }, values }: RowWrite,
  ): Promise<void> {
    const before = await rows.get(call, { key, tenant }, { showDeleted: true })
    for (const parent of this.#named({ ...before, ...values }, tenant, values))
      if (!(await this.#isThere(call, parent, true))) throw missingTarget(parent.relation)
  }

  /**
   * Makes sure of the targets of a row's references: by the statement that writes the row, or, where that
   * cannot lock them, here and for the rest of the transaction.
   */
  async #secure(
    call: SqlCall,
    values: Readonly<Values>,
    tenant: string | undefined,
    written = values,
  ): Promise<Secured> {
    const { parents, refused } = await this.#limited(call, this.#named(values, tenant, written), tenant)
    if (refused !== undefined) return { parents, taken: [], missing: refused }
    // Outside of a transaction a lock would end before the write.
    if (this.areTaken || call.on === this.database) return { parents, taken: parents, missing: undefined }
    for (const parent of parents)
      if (!(await this.#isThere(call, parent, true))) return { parents, taken: [], missing: parent }
    return { parents, taken: [], missing: undefined }
  }

  /**
   * The same parents with what the caller may refer to of each.
   * @returns also the first one to which the caller may not refer, as far as no statement has to say so.
   */
  async #limited(
    call: SqlCall,
    parents: readonly Parent[],
    tenant: string | undefined,
  ): Promise<{ readonly parents: readonly Parent[]; readonly refused: Parent | undefined }> {
    const { referable } = call
    if (referable === undefined) return { parents, refused: undefined }
    const limited: Parent[] = []
    let refused: Parent | undefined
    for (const parent of parents) {
      const { isNone, where, test } = await referable.ask(parent.relation, parent.row)
      const one = { ...parent, where }
      limited.push(one)
      if (refused === undefined && (isNone || !(await this.#passes(call, one, tenant, test)))) refused = one
    }
    return { parents: limited, refused }
  }

  /** True if code allows the row. It stays locked, so that it is the same when it is referred to. */
  async #passes(
    call: SqlCall,
    { relation, row, where }: Parent,
    tenant: string | undefined,
    test: Limit['test'],
  ): Promise<boolean> {
    if (test === undefined) return true
    const reference = this.#of(relation)
    const { isOwned, target, read } = reference
    const key = row.values[target.key.property] as string
    const reach = { key, tenant: isOwned ? tenant : undefined, where }
    const entity = await read(call, reach, { lock: this.#isLocked(reference) ? FOR_REFERENCE : undefined })
    return entity !== undefined && (await test(entity)) === true
  }

  /** The fields that a write leaves as they are, and that it needs to tell what the row refers to. */
  #keptParts(patch: Readonly<Values>): readonly Field[] {
    return this.#all().flatMap(({ relation, parts }) => {
      if (parts.length === 0 || !isWritten(relation, parts, patch)) return []
      const needed = [relation.reference, ...parts.map(({ own }) => own)]
      return needed.filter(({ property }) => !Object.hasOwn(patch, property))
    })
  }

  /** The rows that a row of these values refers to, as far as it is written. */
  #named(values: Readonly<Values>, tenant: string | undefined, written: Readonly<Values>): readonly Parent[] {
    const parents: Parent[] = []
    for (const { relation, target, isOwned, parts, select } of this.#all()) {
      const value = values[relation.reference.property] ?? undefined
      if (value === undefined || !isWritten(relation, parts, written)) continue
      const key = keyPartOf(relation.reference).textOf(value)
      const reported = isOwned ? [this.#stored(target.tenant as Field, tenant ?? '')] : []
      reported.push(this.#stored(target.key, key))
      const named: Record<string, string | undefined> = { [target.key.property]: key }
      for (const { own, target: other } of parts) {
        const text = textIfWritten(own, values)
        reported.push(text === undefined ? null : this.#stored(other, text))
        named[other.property] = text
      }
      const row = { target, field: relation.reference.proto, values: named }
      parents.push({ relation, select, values: reported, where: undefined, row })
    }
    return parents
  }

  /** A part of a key as its column stores it; NULL, which no row has, for a text that is not canonical. */
  #stored(field: Field, text: string): unknown {
    return partSql(field, this.dialect).bind(text)
  }

  async #firstMissing(call: SqlCall, { parents, missing }: Secured) {
    if (missing !== undefined) return missingTarget(missing.relation)
    for (const parent of parents)
      if (!(await this.#isThere(call, parent, false))) return missingTarget(parent.relation)
    return undefined
  }

  async #isThere(
    call: SqlCall,
    { relation, values, select, where }: Parent,
    isKept: boolean,
  ): Promise<boolean> {
    const lock = isKept && this.#isLocked(this.#of(relation))
    const bound: unknown[] = [...values]
    const condition = where && toPredicate(where, this.dialect, bound)
    const statement = this.#statements.getOrSet(`${relation.property} ${lock} ${condition}`, () => {
      let at = 0
      return named(
        select((field) => this.dialect.values.kinds[field.kind].placeholder(field, ++at), lock, condition),
      )
    })
    return (await call.on.run(statement, bound, call)).rows.length > 0
  }

  /**
   * On several servers, each has a copy of a shared row: a lock takes all of them, and those who lock it
   * deadlock. There the foreign key keeps the row.
   */
  #isLocked({ isShared }: Reference): boolean {
    return !isShared || this.database.isDistributed !== true
  }

  #of(relation: OwningRelation): Reference {
    return this.#all().find((one) => one.relation === relation) as Reference
  }

  #all(): readonly Reference[] {
    return (this.#known ??= this.model.relations
      .filter(isChecked)
      .map((relation) => this.#referenceOf(relation)))
  }

  #referenceOf(relation: OwningRelation): Reference {
    const target = resourceModel<object>(relation.target())
    const {
      text: { quote },
      transactions: { rowLock },
    } = this.dialect
    const isOwned = this.model.tenant !== undefined && target.tenant !== undefined
    const table = quoteTable(tableNameOf(target, this.dialect, this.database.dataSource), this.dialect)
    const live = target.deleteTime === undefined ? '' : ` AND ${quote(target.deleteTime.column)} IS NULL`
    const parts = sharedParts(this.model, relation, target)
    return {
      relation,
      target,
      isOwned,
      isShared: target.tenant === undefined,
      parts,
      read: this.reading(target),
      select: (bind, lock, where) => {
        const equal = (field: Field) => equalSql(quote(field.column), field, bind(field), this.dialect)
        const named = [
          ...(isOwned ? [target.tenant as Field] : []),
          target.key,
          ...parts.map((part) => part.target),
        ].map(equal)
        return `SELECT 1 AS ${quote('(parent)')} FROM ${table} WHERE ${named.join(' AND ')}${where === undefined ? '' : ` AND ${where}`}${live}${lock ? rowLock(FOR_REFERENCE) : ''}`
      },
    }
  }
}

/** The row's target existed before and after a statement that did not find it. */
export class ReferencesChanged extends Aborted {}

const changedMeanwhile = (): Aborted =>
  new ReferencesChanged('what the resource refers to changed at the same time: call again')
