import type { TableName } from '../dialects/catalog/table-definition.js'
import type { Database } from '../engines/executor/executor.js'
import { named } from '../engines/executor/named.js'
import type { Merge } from './merge.js'

/** How long calls go out alone after the catalog could not be read. */
const RETRY_MS = 1000

type Sharing = 'nobody' | 'tenant' | 'all'

/**
 * Which calls on a table may share a statement. The catalog is read once, when calls would wait for each other for the first time:
 * where the database itself decides about rows (row-level security), only calls of one tenant share a statement.
 */
export class TableRules {
  #reads: Sharing | undefined
  #isReading = false
  #retryAt = 0

  constructor(
    private readonly database: Database,
    private readonly table: TableName,
    private readonly merge: Exclude<Merge, 'off'>,
  ) {}

  /** Calls of the same group may share a statement; undefined where the call goes out alone. */
  groupOf(tenant: string | undefined): string | undefined {
    if (this.#reads === undefined) this.#look()
    if (this.#reads === 'all') return ''
    return this.#reads === 'tenant' ? tenant : undefined
  }

  #look(): void {
    if (this.#isReading || performance.now() < this.#retryAt) return
    this.#isReading = true
    void this.#read()
      .then((reads) => {
        this.#reads = reads
      })
      .catch(() => {
        this.#retryAt = performance.now() + RETRY_MS
      })
      .finally(() => {
        this.#isReading = false
      })
  }

  async #read(): Promise<Sharing> {
    const { dialect } = this.database
    if (dialect.rowRules === undefined) return 'nobody'
    const { text, values } = dialect.rowRules(this.table)
    const [row] = (await this.database.run(named(text), values)).rows
    const [isTable, hasPolicies] = row ?? []
    if (isTable !== 't') return 'nobody'
    return hasPolicies === 't' ? 'tenant' : this.merge
  }
}
