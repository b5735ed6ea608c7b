import { Aborted } from '../../errors.js'
import { keyPartOf, partIn } from '../../resource/keys/key-part.js'
import { missingTarget, missingTenant } from '../../resource/relations/missing-target.js'
import { isChecked, isOfTenant, isOwning, type OwningRelation } from '../../resource/relations/relation.js'
import { type ResourceModel, resourceModel } from '../../resource/resource-model.js'
import type { Values } from '../contract/new-entity.js'
import type { ReferenceAccess, ReferredRow } from '../contract/related-options.js'
import { isWritten, type SharedPart, sharedParts } from '../../resource/relations/parts-of-name.js'
import { isKnown, Referable, textIfWritten } from '../rows/referable.js'
import { toTest } from './filter-test.js'
import type { MemoryDatabase } from './memory-database.js'

/** A written reference. */
interface Named {
  readonly relation: OwningRelation
  readonly parts: readonly SharedPart[]
  readonly row: ReferredRow
}

/** The references of a resource in memory. Writes check that their targets exist. */
export class MemoryReferences {
  private constructor(
    private readonly model: ResourceModel,
    private readonly references: readonly OwningRelation[],
    private readonly database: Pick<MemoryDatabase, 'resourceOf'>,
  ) {}

  /** Returns undefined if the resource refers to no other. */
  static of(
    model: ResourceModel,
    database: Pick<MemoryDatabase, 'resourceOf'>,
  ): MemoryReferences | undefined {
    if (!model.relations.some(isOwning)) return undefined
    return new MemoryReferences(model, model.relations.filter(isChecked), database)
  }

  /**
   * Returns the rows that the caller of a write may refer to, determined before the write.
   *
   * @param written - the caller's values of each row.
   */
  async referable(
    access: ReferenceAccess | undefined,
    written: readonly Readonly<Values>[],
  ): Promise<MemoryReferable | undefined> {
    if (access === undefined) return undefined
    const referable = new MemoryReferable(access)
    for (const values of written)
      for (const { relation, row } of this.#named(values, values))
        if (isKnown(row)) await referable.ask(relation, row)
    return referable
  }

  /**
   * Checks that the targets of written references exist.
   *
   * @param stored - the row before the write.
   * @param written - the written values.
   * @param referable - the rows that the caller may refer to. Undefined for all rows.
   * @throws InvalidArgument for the first reference whose target is missing, deleted, of another tenant, or
   * has a resource name that the name of the row does not begin with.
   * @throws NotAsked if it must first be determined whether the caller may refer to a row.
   * @throws TypeError if the database has no repository of the target.
   */
  check(stored: Readonly<Values>, written: Readonly<Values>, referable: MemoryReferable | undefined): void {
    const { tenant } = this.model
    this.#checkTenant(written)
    for (const { relation, parts, row } of this.#named({ ...stored, ...written }, written)) {
      const { target, values } = row
      const owner = tenant === undefined || target.tenant === undefined ? undefined : partIn(tenant, stored)
      const { table } = this.database.resourceOf(target)
      const isAllowed = referable?.tests(relation, row, table)
      const found = table.find(values[target.key.property] as string, owner)
      const isNamed = (one: Readonly<Values>) =>
        parts.every(
          ({ target: part }) => keyPartOf(part).textOf(one[part.property]) === values[part.property],
        )
      if (!found.some((one) => table.isLive(one) && isNamed(one) && isAllowed?.(one) !== false))
        throw missingTarget(relation)
    }
  }

  /**
   * Checks the tenant, as a foreign key would.
   *
   * @throws ErrPreconditionFailed if the resource of the tenants has no such row.
   */
  #checkTenant(written: Readonly<Values>): void {
    for (const relation of this.model.relations.filter(isOwning)) {
      if (!isOfTenant(relation) || !Object.hasOwn(written, relation.reference.property)) continue
      const { table } = this.database.resourceOf(resourceModel<object>(relation.target()))
      if (table.find(partIn(relation.reference, written), undefined).length === 0)
        throw missingTenant(relation.reference)
    }
  }

  *#named(values: Readonly<Values>, written: Readonly<Values>): Generator<Named> {
    for (const relation of this.references) {
      const target = resourceModel<object>(relation.target())
      const parts = sharedParts(this.model, relation, target)
      const key: unknown = values[relation.reference.property] ?? undefined
      if (!isWritten(relation, parts, written) || key === undefined) continue
      const named: Record<string, string | undefined> = {
        [target.key.property]: keyPartOf(relation.reference).textOf(key),
      }
      for (const { own, target: other } of parts) named[other.property] = textIfWritten(own, values)
      yield { relation, parts, row: { target, field: relation.reference.proto, values: named } }
    }
  }
}

type Table = ReturnType<MemoryDatabase['resourceOf']>['table']

/** The rows that the caller of one write may refer to. */
export class MemoryReferable {
  readonly #referable: Referable
  /** The authorizer's results by row. Rows are replaced and never changed. */
  readonly #said = new WeakMap<object, boolean>()

  constructor(access: ReferenceAccess) {
    this.#referable = new Referable(access)
  }

  async ask(relation: OwningRelation, row: ReferredRow): Promise<void> {
    await this.#referable.ask(relation, row)
  }

  /**
   * Returns a test for stored rows.
   *
   * @throws NotAsked if the limits of the caller are not known yet. The test may throw it, too.
   */
  tests(relation: OwningRelation, row: ReferredRow, table: Table): (one: Values) => boolean {
    const limit = this.#referable.known(relation, row)
    if (limit === undefined) throw new NotAsked(() => this.ask(relation, row))
    const { isNone, where, test } = limit
    const isAmong = where === undefined ? () => true : toTest(where, table.read)
    return (one) => {
      if (isNone || !isAmong(one)) return false
      const said = test === undefined || this.#said.get(one)
      if (test === undefined || said !== undefined) return said === true
      throw new NotAsked(async () => void this.#said.set(one, (await test(table.entityOf(one))) === true))
    }
  }

  /** Runs a change. If it needs the authorizer's decision, awaits the decision and runs the change again. */
  async during<T>(change: () => Promise<T>): Promise<T> {
    for (let asked = 0; asked < MAX_ASKED; asked++)
      try {
        return await change()
      } catch (error) {
        if (!(error instanceof NotAsked)) throw error
        await error.ask()
      }
    throw new Aborted('what the resource refers to kept changing: call again')
  }
}

/**
 * The maximum number of attempts. It exceeds the number of rows that a batch can refer to, so that only a row
 * that others change continuously reaches it.
 */
const MAX_ASKED = 10_000

/**
 * An asynchronous decision is required that cannot be awaited within a change. This file's functions catch
 * the error.
 */
class NotAsked extends TypeError {
  constructor(readonly ask: () => Promise<void>) {
    super('it is unknown whether the caller may refer to a row')
  }
}
