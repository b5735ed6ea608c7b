import { ErrNotFound } from '../../errors.js'
import { keyPartOf, partIn } from '../../resource/keys/key-part.js'
import type { Sources, Values } from '../contract/new-entity.js'
import { deletionOf, restorationOf, serverSetValues } from '../contract/patch.js'
import { isSoft, type Edge, type Member } from '../deletion/rules/family.js'
import type { StoredRow, StoredRows, Which } from '../deletion/rules/stored-rows.js'
import type { FilterNode } from '../query/query-plan.js'
import { byTenant } from '../rows/row-target.js'
import type { RowWrite } from '../rows/rows.js'
import type { MemoryCall, MemoryResource } from './memory-database.js'
import type { MemoryTable } from './memory-table.js'

/** The property of the deletion's id. No property of an entity has this name. */
const DELETE_ID = '(delete_id)'

/** Reads and writes the rows of related resources in memory, inside one transaction. */
export class MemoryStoredRows implements StoredRows {
  constructor(
    private readonly resourceOf: (member: Member) => MemoryResource,
    private readonly call: MemoryCall,
    private readonly sources: Sources,
  ) {}

  get(
    member: Member,
    { key, tenant, where }: { key: string; tenant: string | undefined; where?: FilterNode | undefined },
  ): Promise<StoredRow | undefined> {
    const { table } = this.resourceOf(member)
    return this.call.read(() => {
      const [row] = table.within(table.find(key, tenant), { where })
      return row && this.#rowOf(member, row)
    })
  }

  find(
    edge: Edge,
    parents: readonly StoredRow[],
    { state, where }: Which,
    limit: number,
  ): Promise<StoredRow[]> {
    const { child, relation } = edge
    const { model } = child
    const { table } = this.resourceOf(child)
    const isTenants = model.tenant !== undefined && edge.parent.model.tenant !== undefined
    const idOf = (tenant: unknown, key: unknown) => `${isTenants ? String(tenant) : ''}\0${String(key)}`
    const wanted = new Set(parents.map(({ tenant, key }) => idOf(tenant, key)))
    const isMeant = (row: Values) => {
      const key = row[relation.reference.property]
      if (key === undefined || !wanted.has(idOf(row[model.tenant?.property ?? ''], key))) return false
      if (typeof state === 'object') return row[DELETE_ID] === state.deleteId
      return state === 'all' || table.isLive(row)
    }
    return this.call.read(() =>
      this.#sorted(child, table.within(table.filter(isMeant), { where })).slice(0, limit),
    )
  }

  async count(edge: Edge, parents: readonly StoredRow[], which: Which, limit: number): Promise<number> {
    return (await this.find(edge, parents, which, limit)).length
  }

  entities(rows: readonly StoredRow[]): Promise<object[]> {
    return this.call.read(() => rows.map((row) => this.#table(row).entityOf(this.#valuesOf(row))))
  }

  /** Returns undefined, because rows in memory store the id of their deletion. */
  deletionTime(): Promise<undefined> {
    return Promise.resolve(undefined)
  }

  async softDelete(rows: readonly StoredRow[], deleteId: string): Promise<void> {
    for (const row of rows)
      await this.#rows(row).delete(this.call, writeOf(row, deletionOf(row.member.model, this.sources)))
    await this.mark(rows, deleteId)
  }

  mark(rows: readonly StoredRow[], deleteId: string | undefined): Promise<void> {
    return this.#replace(rows, () => ({ [DELETE_ID]: deleteId }))
  }

  async restore(rows: readonly StoredRow[]): Promise<void> {
    await this.mark(rows, undefined)
    for (const row of rows) {
      const values = restorationOf(row.member.model, this.sources)
      await this.#rows(row).undelete(this.call, writeOf(row, values))
    }
  }

  async unset({ child, relation }: Edge, rows: readonly StoredRow[]): Promise<void> {
    const patch = () => ({
      ...serverSetValues(child.model, this.sources),
      [relation.reference.property]: undefined,
    })
    for (const row of rows) if (!row.isDeleted) await this.#rows(row).update(this.call, writeOf(row, patch()))
    await this.#replace(
      rows.filter(({ isDeleted }) => isDeleted),
      patch,
    )
  }

  clear({ relation }: Edge, rows: readonly StoredRow[]): Promise<void> {
    return this.call.write((log) => {
      const patch = { [relation.reference.property]: undefined }
      for (const row of rows) this.#table(row).replace(this.#valuesOf(row), patch, log, 'nothing')
    })
  }

  async remove(rows: readonly StoredRow[]): Promise<void> {
    const known = await this.call.read(() => new Map(rows.map((row) => [row, this.#valuesOf(row)])))
    for (const row of rows)
      if (!row.isDeleted) {
        const values = deletionOf(row.member.model, this.sources)
        const isRemovedNext = isSoft(row.member)
        await this.#rows(row).delete(this.call, { ...writeOf(row, values), isRemovedNext })
      }
    await this.call.write((log) => {
      for (const [row, before] of known)
        if (isSoft(row.member)) this.#table(row).remove(this.#valuesOf(row), log, 'purged', before)
    })
  }

  purge(rows: readonly StoredRow[]): Promise<void> {
    return this.call.write((log) => {
      for (const row of rows) this.#table(row).remove(this.#valuesOf(row), log, 'purged')
    })
  }

  callsHooks(operation: 'update' | 'delete' | 'undelete', members: Iterable<Member>): boolean {
    return [...members].some((member) => this.resourceOf(member).hooks.surround(operation))
  }

  expired(
    member: Member,
    before: Date,
    tenant: string | undefined,
    after: StoredRow | undefined,
    limit: number,
  ): Promise<StoredRow[]> {
    const { table } = this.resourceOf(member)
    return this.call.read(() => {
      const expired = this.#sorted(member, table.expired(before, tenant))
      return expired.filter((row) => after === undefined || byIdentity(row, after) > 0).slice(0, limit)
    })
  }

  #sorted(member: Member, rows: readonly Values[]): StoredRow[] {
    return rows.map((row) => this.#rowOf(member, row)).sort(byIdentity)
  }

  #rowOf(member: Member, row: Values): StoredRow {
    const { keys, tenant } = member.model
    return {
      member,
      key: keys.textOf(row),
      tenant: tenant && partIn(tenant, row),
      isDeleted: !this.resourceOf(member).table.isLive(row),
      deleteId: row[DELETE_ID] as string | undefined,
      references: Object.fromEntries(
        member.parents.map(({ relation: { property, reference } }) => {
          const value = row[reference.property]
          return [property, value === undefined ? undefined : keyPartOf(reference).textOf(value)]
        }),
      ),
    }
  }

  #replace(rows: readonly StoredRow[], patch: () => Values): Promise<void> {
    return this.call.write((log) => {
      for (const row of rows) this.#table(row).replace(this.#valuesOf(row), patch(), log)
    })
  }

  #table({ member }: StoredRow): MemoryTable<object> {
    return this.resourceOf(member).table
  }

  #rows({ member }: StoredRow): MemoryResource['rows'] {
    return this.resourceOf(member).rows
  }

  #valuesOf(row: StoredRow): Values {
    const [values] = this.#table(row).find(row.key, row.tenant)
    if (values === undefined) throw new ErrNotFound()
    return values
  }
}

const writeOf = ({ key, tenant }: StoredRow, values: Values): RowWrite => ({ row: { key, tenant }, values })

const byIdentity = (a: StoredRow, b: StoredRow): number =>
  (a.member.model.tenant && byTenant(a.member.model.tenant, a, b)) ||
  a.member.model.keys.compare(a.key, b.key)
