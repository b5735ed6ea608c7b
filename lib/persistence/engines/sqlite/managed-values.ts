import type { EntityMetadata, ValueTransformer } from 'typeorm'
import { ManagedValues, UnclearValues } from '../../../resource/kinds/managed.js'
import { type SqliteKind, sqliteKinds } from '../../dialects/sqlite/kinds.js'
import { type Decode, type Encode, encoderOf } from '../../dialects/values/kind-sql.js'
import { heldOf } from '../../../resource/kinds/kinds.js'

/** Converts the values of one column between TypeORM's manager and SQLite, exactly as a repository does. */
export class SqliteValues implements ValueTransformer {
  readonly casts: SqliteKind['casts']
  readonly #encode: Encode | undefined
  readonly #decode: Decode

  constructor({ kind, field }: ManagedValues) {
    const sql = sqliteKinds[kind.name]
    this.casts = sql.casts
    this.#encode = encoderOf({ ...field, kind: kind.name }, { values: { kinds: sqliteKinds } })
    const decode = sql.decoder(field)
    this.#decode = (read) => heldOf(decode(read), field)
  }

  to(value: unknown): unknown {
    return value === undefined || value === null ? value : (this.#encode?.(value) ?? value)
  }

  from(read: unknown): unknown {
    return read === undefined || read === null ? read : this.#decode(read)
  }
}

/** Installs the conversions, because TypeORM converts no value of a column that is declared as text. */
export function manageValues(metadatas: readonly EntityMetadata[]): void {
  for (const { columns } of metadatas)
    for (const column of columns) {
      // The application's transformer runs before Ashlar's.
      const all = [column.transformer ?? []].flat()
      const ours = all.find((one) => one instanceof ManagedValues)
      if (ours === undefined || ours instanceof UnclearValues) continue
      const values = new SqliteValues(ours)
      column.transformer = all.length === 1 ? values : all.map((one) => (one === ours ? values : one))
      column.type = 'text'
    }
}
