import type {
  ReferenceAccess,
  ReferredRow,
  ReferringOptions,
} from '../../persistence/contract/related-options.js'
import type { OperationOptions, Repository } from '../../persistence/contract/repository.js'
import { joinOptions } from '../../persistence/contract/scope.js'
import { isOfRepository } from '../../persistence/repository/thrown-errors.js'
import { keyPartOf } from '../../resource/keys/key-part.js'
import { isChecked } from '../../resource/relations/relation.js'
import { resourceModel } from '../../resource/resource-model.js'
import type { ReferringWrite, WritesReferences } from '../chain/row-access.js'
import { isOverridden } from '../../persistence/repository/repository-view.js'

type Values = Readonly<Record<string, unknown>>

/** What every caller may refer to. */
const FREE = { isNone: false }

/** Two rows have the same if one reference of a resource has one key. */
const idOf = ({ field, target, values }: ReferredRow): string =>
  JSON.stringify([field, values[target.key.property]])

/** Writes of one repository for one call, whose caller may not refer to everything. */
export class Referring implements WritesReferences {
  constructor(
    private readonly repository: Repository<object>,
    private readonly access: ReferenceAccess,
  ) {}

  /**
   * Runs a write, whose options say what the caller may refer to.
   * @throws TypeError when an operation that the application overrides left that out, and the caller may not
   * refer to what the write names.
   */
  async run<O extends OperationOptions, R>(
    { operation, named, isLate = false, isOfRequest = false }: ReferringWrite,
    options: O,
    run: (options: O & ReferringOptions) => Promise<R>,
  ): Promise<R> {
    const { repository } = this
    // Of the request, before an override or a hook changes it.
    const rows = isLate ? undefined : this.#rowsIn(named())
    const access = isOfRequest
      ? this.#ofRequest(operation === 'undelete' ? undefined : (rows ?? []))
      : this.access
    const isLimited = () => this.#isLimited(rows ?? this.#rowsIn(named()))
    const isWatched = isOverridden(repository, operation) && (isLate || (await isLimited()))
    if (!isWatched) return run(joinOptions<O, ReferringOptions>(options, { references: access }))
    let isRead = false
    const asked = joinOptions<O, ReferringOptions>(options, {
      get references() {
        isRead = true
        return access
      },
    })
    const dropped = async () => !isRead && (await isLimited())
    const error = () =>
      new TypeError(
        `${repository.constructor.name}.${operation} left out \`references\`, to which the authorizer holds this call: pass its options to super.${operation}`,
      )
    // What an overridden operation did without it has to be taken back.
    return repository.transaction(
      async (context) => {
        const result = await run(joinOptions(asked, { context })).catch(async (failure: unknown) => {
          // It may say something about a row that the caller may not refer to.
          if (isOfRepository(failure) && (await dropped())) throw error()
          throw failure
        })
        if (await dropped()) throw error()
        return result
      },
      options.context === undefined ? {} : { context: options.context },
    )
  }

  /**
   * Accepts references that the server sets: OUTPUT_ONLY ones, and values that the request does not have.
   * @param rows - what the request refers to; undefined if it is about stored references.
   */
  #ofRequest(rows: readonly ReferredRow[] | undefined): ReferenceAccess {
    const outputOnly = new Set(
      this.repository.model.relations
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

  /** Whether there is a limit to what the rows are. */
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
    for (const { property, reference, ...relation } of this.repository.model.relations.filter(isChecked)) {
      const target = resourceModel<object>(relation.target())
      const key =
        entity[reference.property] ?? (entity[property] as Values | undefined)?.[target.key.property]
      const text = keyPartOf(reference).textOf(key)
      if (text !== '') yield { target, field: reference.proto, values: { [target.key.property]: text } }
    }
  }
}
