import type { EntityMetadata, ValueTransformer } from 'typeorm'
import { ManagedValues, UnclearValues } from '../../../resource/kinds/managed.js'
import { type SqliteKind, sqliteKinds } from '../../dialects/sqlite/kinds.js'
import type { Decode, Encode } from '../../dialects/values/kind-sql.js'

/** The values of one column between TypeORM's manager and SQLite: the very same as a repository's. */
export class SqliteValues implements ValueTransformer {
  readonly casts: SqliteKind['casts']
  readonly #encode: Encode | undefined
  readonly #decode: Decode

  constructor({ kind, field }: ManagedValues) {
    const sql = sqliteKinds[kind.name]
    this.casts = sql.casts
    this.#encode = sql.encoder(field)
    this.#decode = sql.decoder(field)
  }

  to(value: unknown): unknown {
    return value === undefined || value === null ? value : (this.#encode?.(value) ?? value)
  }

  from(read: unknown): unknown {
    return read === undefined || read === null ? read : this.#decode(read)
  }
}

/** TypeORM converts no value of a column that is declared as text. */
export function manageValues(metadatas: readonly EntityMetadata[]): void {
  for (const { columns } of metadatas)
    for (const column of columns) {
      const { transformer } = column
      if (!(transformer instanceof ManagedValues) || transformer instanceof UnclearValues) continue
      column.transformer = new SqliteValues(transformer)
      column.type = 'text'
    }
}
