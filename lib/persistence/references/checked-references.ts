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
  /** True if both the target and the resource have a tenant. */
  readonly isOwned: boolean
  /** True if the target has no tenant. */
  readonly isShared: boolean
  /** The values that the target must have in common, if the resource's name begins with the target's name. */
  readonly parts: readonly SharedPart[]
  readonly select: Parent['select']
  /** Reads the target for checks in code. */
  readonly read: ReadTarget
}

/** Reads a row of another resource. */
export type ReadTarget = Rows<object>['get']

/** The references of a write. */
interface Secured {
  readonly parents: readonly Parent[]
  /** References that the writing statement itself locks. */
  readonly taken: readonly Parent[]
  /** The first reference whose target is known to be missing. */
  readonly missing: Parent | undefined
}

/** The cache has one statement for each reference and each shape of an authorizer's condition. */
const CACHED_STATEMENTS = 200

/**
 * Locks a row so that other transactions can read and refer to it, but not delete it before the transaction
 * ends.
 */
const FOR_REFERENCE: LockClause = { lock: 'share', wait: 'block' }

/**
 * Checks a resource's references. When a row is written, each target must be a live row of the same tenant,
 * and it remains one until the commit. If the resource's name begins with a target's name, the target must
 * have that name.
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

  /** Returns undefined if the resource refers to no other. */
  static of(
    database: Database,
    model: ResourceModel,
    reading: (target: ResourceModel) => ReadTarget,
  ): References | undefined {
    return model.relations.some(isChecked) ? new References(database, model, reading) : undefined
  }

  /**
   * True if the writing statement locks the referenced rows. In a distributed database it would then run on
   * the servers of other tenants, too.
   */
  get areTaken(): boolean {
    return this.dialect.can.writeWith && this.database.isDistributed !== true
  }

  /**
   * Returns the rows that the caller of a write may refer to, determined before its transaction begins.
   * References that hooks set are checked later.
   *
   * @param written - the caller's values of each row.
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

  /** Returns true if one of the patches writes a reference, or a part of a referenced row's name. */
  arePatched(patches: readonly Readonly<Values>[]): boolean {
    return this.#all().some(({ relation, parts }) =>
      patches.some((patch) => isWritten(relation, parts, patch)),
    )
  }

  /** Returns true if the patches alone determine the new references of their rows. */
  areKnownIn(patches: readonly Readonly<Values>[], tenant: string | undefined): boolean {
    return (
      (tenant !== undefined || this.model.tenant === undefined) &&
      patches.every((patch) => this.#keptParts(patch).length === 0)
    )
  }

  /**
   * Locks the targets of new references, each once and in key order.
   *
   * @returns true if the rows may refer to all of them.
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

  /**
   * Inserts a row with references.
   *
   * @throws InvalidArgument if a target is missing.
   */
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
   * Updates a row with references. Returns undefined if the row does not match.
   *
   * @throws InvalidArgument if the row matches and a target is missing.
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
   * Checks references that a hook has written while a row is deleted or undeleted. The targets stay locked.
   *
   * @throws InvalidArgument for the first missing target.
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
   * Checks the targets of a row's references: in the writing statement, or, if that cannot lock them, here
   * for the rest of the transaction.
   */
  async #secure(
    call: SqlCall,
    values: Readonly<Values>,
    tenant: string | undefined,
    written = values,
  ): Promise<Secured> {
    const { parents, refused } = await this.#limited(call, this.#named(values, tenant, written), tenant)
    if (refused !== undefined) return { parents, taken: [], missing: refused }
    // Outside a transaction, a lock would end before the write.
    if (this.areTaken || call.on === this.database) return { parents, taken: parents, missing: undefined }
    for (const parent of parents)
      if (!(await this.#isThere(call, parent, true))) return { parents, taken: [], missing: parent }
    return { parents, taken: [], missing: undefined }
  }

  /**
   * Adds the caller's limits to the targets.
   *
   * @returns also the first target that the caller may not refer to, if this is known without a statement.
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

  /**
   * Returns true if the authorizer's code allows the row. The row stays locked, so that it does not change
   * before the write.
   */
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

  /** Returns the fields that a write does not change but that are part of a written reference's name. */
  #keptParts(patch: Readonly<Values>): readonly Field[] {
    return this.#all().flatMap(({ relation, parts }) => {
      if (parts.length === 0 || !isWritten(relation, parts, patch)) return []
      const needed = [relation.reference, ...parts.map(({ own }) => own)]
      return needed.filter(({ property }) => !Object.hasOwn(patch, property))
    })
  }

  /** Returns the targets of written references. */
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

  /**
   * Returns the stored form of a key's part, or NULL, which matches no row, if the string is not canonical.
   */
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
   * Returns true if the target is locked. In a distributed database, each server has a copy of a shared row.
   * Locking all copies causes deadlocks, so the foreign key protects the row instead.
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

/** The target existed before and after a statement that did not find it. */
export class ReferencesChanged extends Aborted {}

const changedMeanwhile = (): Aborted =>
  new ReferencesChanged('what the resource refers to changed at the same time: call again')
