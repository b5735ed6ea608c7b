import { partIn } from '../../resource/keys/key-part.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Values } from '../contract/new-entity.js'
import type { CipherRow, CipherRows, CipherKey } from '../rows/cipher-rows.js'
import { byTenant } from '../rows/row-target.js'
import type { MemoryCall } from './memory-database.js'
import type { MemoryTable } from './memory-table.js'

/** Reads and writes the ciphertexts of one resource in memory. */
export class MemoryCipherRows implements CipherRows<MemoryCall> {
  constructor(
    private readonly model: ResourceModel,
    private readonly table: MemoryTable<object>,
  ) {}

  page(
    { read }: MemoryCall,
    tenant: string | undefined,
    after: CipherKey | undefined,
    size: number,
  ): Promise<readonly CipherRow[]> {
    return read(() =>
      this.table
        .filter((row) => this.table.belongsTo(row, tenant))
        .map((row) => this.#rowOf(row))
        .filter((row) => row.ciphers.some((cipher) => cipher !== undefined))
        .filter((row) => after === undefined || this.#inOrder(after, row) < 0)
        .sort((a, b) => this.#inOrder(a, b))
        .slice(0, size),
    )
  }

  replace(
    { write }: MemoryCall,
    { key, tenant }: CipherKey,
    index: number,
    from: string,
    to: string,
  ): Promise<boolean> {
    const property = this.model.secrets[index]?.cipher.property ?? ''
    return write((log) => {
      const [row] = this.table.find(key, tenant).filter((one) => one[property] === from)
      if (row === undefined) return false
      this.table.replace(row, { [property]: to }, log, 'nothing')
      return true
    })
  }

  #inOrder(a: CipherKey, b: CipherKey): number {
    const { tenant, keys } = this.model
    return (tenant && byTenant(tenant, a, b)) || keys.compare(a.key, b.key)
  }

  #rowOf(row: Values): CipherRow {
    const { keys, tenant, secrets } = this.model
    return {
      key: keys.textOf(row),
      tenant: tenant && partIn(tenant, row),
      ciphers: secrets.map(({ cipher }) => (row[cipher.property] ?? undefined) as string | undefined),
    }
  }
}
