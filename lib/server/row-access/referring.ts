import type { ReferenceAccess, ReferredRow } from '../../persistence/contract/related-options.js'
import type { ReferringWrites } from '../chain/row-access.js'
import { keyPartOf } from '../../resource/keys/key-part.js'
import { isChecked } from '../../resource/relations/relation.js'
import { type ResourceModel, resourceModel } from '../../resource/resource-model.js'

type Values = Readonly<Record<string, unknown>>

/** The access to rows that every caller may refer to. */
const FREE = { isNone: false }

/** Returns an id that is equal for the same reference with the same key. */
const idOf = ({ field, target, values }: ReferredRow): string =>
  JSON.stringify([field, values[target.key.property]])

/** The writes of one repository for a call whose caller may not refer to every resource. */
export class Referring implements ReferringWrites {
  /**
   * @param isOfRequest - true if only references in the request are checked, not references that the server
   *   sets.
   */
  constructor(
    private readonly model: ResourceModel,
    private readonly access: ReferenceAccess,
    private readonly isOfRequest: boolean,
  ) {}

  of({
    kind,
    named,
  }: {
    readonly kind: string
    readonly named?: () => readonly object[]
  }): ReturnType<ReferringWrites['of']> {
    const rows = this.#rowsIn(named?.() ?? [])
    const requested = kind === 'undelete' ? undefined : rows
    return {
      references: this.isOfRequest ? this.#ofRequest(requested) : this.access,
      isLimited: () => this.#isLimited(rows),
    }
  }

  /**
   * Returns an access check that permits every reference that the server sets: one in an OUTPUT_ONLY field,
   * or one that is not in the request. It passes other references to `access`.
   * @param rows - the rows to which the request refers; undefined for stored references.
   */
  #ofRequest(rows: readonly ReferredRow[] | undefined): ReferenceAccess {
    const outputOnly = new Set(
      this.model.relations
        .filter(isChecked)
        .filter(({ reference }) => reference.role === 'outputOnly')
        .map(({ reference }) => reference.proto),
    )
    const requested = rows && new Set(rows.map(idOf))
    return {
      refer: (row) => {
        const isSetByServer = outputOnly.has(row.field) || requested?.has(idOf(row)) === false
        return row.by === undefined && isSetByServer ? Promise.resolve(FREE) : this.access.refer(row)
      },
    }
  }

  /** Returns true if the caller may not refer to every one of the rows. */
  async #isLimited(rows: readonly ReferredRow[]): Promise<boolean> {
    for (const row of rows) {
      const { isNone, where, test } = await this.access.refer(row)
      if (isNone || where !== undefined || test !== undefined) return true
    }
    return false
  }

  #rowsIn(entities: readonly object[]): readonly ReferredRow[] {
    return entities.flatMap((entity) => [...this.#rowsOf(entity as Values)])
  }

  *#rowsOf(entity: Values): Generator<ReferredRow> {
    for (const { property, reference, ...relation } of this.model.relations.filter(isChecked)) {
      const target = resourceModel<object>(relation.target())
      const key =
        entity[reference.property] ?? (entity[property] as Values | undefined)?.[target.key.property]
      const text = keyPartOf(reference).textOf(key)
      if (text !== '') yield { target, field: reference.proto, values: { [target.key.property]: text } }
    }
  }
}
