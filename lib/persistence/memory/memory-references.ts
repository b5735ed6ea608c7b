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

/** A reference that is written. */
interface Named {
  readonly relation: OwningRelation
  readonly parts: readonly SharedPart[]
  readonly row: ReferredRow
}

/** The references that a resource holds, in memory: a write makes sure of their targets. */
export class MemoryReferences {
  private constructor(
    private readonly model: ResourceModel,
    private readonly references: readonly OwningRelation[],
    private readonly database: Pick<MemoryDatabase, 'resourceOf'>,
  ) {}

  /** Undefined where the resource refers to nothing. */
  static of(
    model: ResourceModel,
    database: Pick<MemoryDatabase, 'resourceOf'>,
  ): MemoryReferences | undefined {
    if (!model.relations.some(isOwning)) return undefined
    return new MemoryReferences(model, model.relations.filter(isChecked), database)
  }

  /**
   * The rows that the caller of a write may refer to, determined before the write. @param written - the
   * caller's values, row by row.
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
   * @param stored - as the row is before.
   * @param written - what is written of the row.
   * @param referable - what the caller may refer to; everything when left out.
   * @throws InvalidArgument for the first reference whose target is missing, deleted, of another tenant, or
   * has another name than the one that the name of the row begins with.
   * @throws NotAsked where it is not known whether the caller may refer to a row.
   * @throws TypeError where no repository of the target is on the database.
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

  /** As a foreign key does. @throws ErrPreconditionFailed where no resource of the tenants is the tenant. */
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
  /** The results of code for each row. A row is replaced and never changed. */
  readonly #said = new WeakMap<object, boolean>()

  constructor(access: ReferenceAccess) {
    this.#referable = new Referable(access)
  }

  async ask(relation: OwningRelation, row: ReferredRow): Promise<void> {
    await this.#referable.ask(relation, row)
  }

  /** Tests the stored rows. @throws NotAsked, as the tests do. */
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

  /** Runs a change, and asks what it has to know, until it knows that. */
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

/** More than the rows that a batch can refer to: only a row that others change all the time needs so many. */
const MAX_ASKED = 10_000

/**
 * A question must be answered first that cannot be asked within a change. The error never leaves this file's
 * functions.
 */
class NotAsked extends TypeError {
  constructor(readonly ask: () => Promise<void>) {
    super('it is unknown whether the caller may refer to a row')
  }
}
