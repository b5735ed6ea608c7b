import type { Sources } from '../contract/new-entity.js'
import type { Member } from '../deletion/rules/family.js'
import type { FamilyRows } from '../deletion/rules/family-writer.js'
import type { MemoryCall } from './memory-call.js'
import type { MemoryDatabase } from './memory-database.js'
import { MemoryStoredRows } from './memory-stored-rows.js'

/** The rows of all resources of a database that refer to one another. */
export class MemoryFamily implements FamilyRows<MemoryCall> {
  readonly snapshot = undefined

  constructor(private readonly database: MemoryDatabase) {}

  rows(call: MemoryCall, sources: Sources): MemoryStoredRows {
    return new MemoryStoredRows(({ model }) => this.database.resourceOf(model), call, sources)
  }

  surround({ model }: Member, operation: 'update' | 'delete' | 'undelete'): boolean {
    return this.database.resourceOf(model).hooks.surround(operation)
  }
}
