import { warnRenamed } from '../../renamed.js'
import type { IdempotencyKey, IdempotencyStore } from './idempotency-store.js'
import { type MemoryIdempotencyOptions, MemoryIdempotencyStore } from './memory-idempotency-store.js'
import { type RedisIdempotencyOptions, RedisIdempotencyStore } from './redis-idempotency-store.js'
import { type SqlIdempotencyOptions, SqlIdempotencyStore } from './sql-idempotency-store.js'

/** The same as `IdempotencyStore`, as the specification calls it. */
export type DeduplicationStore = IdempotencyStore

/** @deprecated It is now `IdempotencyKey`. */
export type DeduplicationKey = IdempotencyKey
/** @deprecated It is now `MemoryIdempotencyOptions`. */
export type MemoryDeduplicationOptions = MemoryIdempotencyOptions
/** @deprecated It is now `RedisIdempotencyOptions`. */
export type RedisDeduplicationOptions = RedisIdempotencyOptions
/** @deprecated It is now `SqlIdempotencyOptions`. */
export type SqlDeduplicationOptions = SqlIdempotencyOptions

/** @deprecated It is now `MemoryIdempotencyStore`. */
export class MemoryDeduplicationStore extends MemoryIdempotencyStore {
  constructor(...given: ConstructorParameters<typeof MemoryIdempotencyStore>) {
    warnRenamed('MemoryDeduplicationStore', 'MemoryIdempotencyStore')
    super(...given)
  }
}

/** @deprecated It is now `RedisIdempotencyStore`. */
export class RedisDeduplicationStore extends RedisIdempotencyStore {
  constructor(...given: ConstructorParameters<typeof RedisIdempotencyStore>) {
    warnRenamed('RedisDeduplicationStore', 'RedisIdempotencyStore')
    super(...given)
  }
}

/** @deprecated It is now `SqlIdempotencyStore`. */
export class SqlDeduplicationStore extends SqlIdempotencyStore {
  constructor(...given: ConstructorParameters<typeof SqlIdempotencyStore>) {
    warnRenamed('SqlDeduplicationStore', 'SqlIdempotencyStore')
    super(...given)
  }
}
