import { nowOf, type Sources, type Values } from '../../contract/new-entity.js'
import { deletionOf, restorationOf, serverSetValues } from '../../contract/patch.js'
import type { TableName } from '../../dialects/catalog/table-definition.js'
import { hasDeleteKey } from '../../dialects/column-sql.js'
import type { Database } from '../../engines/executor/executor.js'
import { READ_IN_SEQUENCE } from '../../dialects/citus/citus.js'
import { named } from '../../engines/executor/named.js'
import type { EmittingRows } from '../../outbox/sql/emitting-rows.js'
import type { SqlCall } from '../../rows/row-call.js'
import type { Target } from '../../rows/row-target.js'
import type { Rows } from '../../rows/rows.js'
import { comesBack, isSoft, type Edge, type Member } from '../rules/family.js'
import { byMember, type StoredRow, type StoredRows, type Which } from '../rules/stored-rows.js'
import type { FamilyRows, Snapshot } from '../rules/family-writer.js'
import { type Bound, FamilyStatements, LOCKED, type RowsAsked, type Written } from './family-statements.js'

/** A resource with relations, stored in a database. */
export interface SqlMember {
  readonly statements: FamilyStatements
  readonly rows: Rows<object>
  /** Writes events for rows that are removed by key. Undefined if the resource has no such events. */
  readonly events: Pick<EmittingRows<object>, 'purging'> | undefined
  /** Returns true if the operation calls hooks. */
  readonly surround: (operation: 'update' | 'delete' | 'undelete') => boolean
}

/** Creates the members of a family, once per resource. */
export interface MemberSource {
  readonly database: Database
  readonly tableOf: (member: Member) => TableName
  readonly rowsOf: (member: Member) => Omit<SqlMember, 'statements'>
}

/** The resources of one database that are connected by relations. */
export class SqlFamily implements FamilyRows<SqlCall> {
  readonly #members = new Map<Member, SqlMember>()

  constructor(private readonly source: MemberSource) {}

  of(member: Member): SqlMember {
    const known = this.#members.get(member)
    if (known !== undefined) return known
    const { database, tableOf, rowsOf } = this.source
    const { dialect } = database
    const isDiscriminated = hasDeleteKey(member.model, dialect)
    const made: SqlMember = {
      ...rowsOf(member),
      statements: new FamilyStatements(
        member,
        dialect,
        tableOf(member),
        isDiscriminated ? 'soft_delete_key' : undefined,
      ),
    }
    this.#members.set(member, made)
    return made
  }

  /**
   * Returns the writer of single rows if each row needs an event or a hook, or undefined if one statement is
   * enough.
   */
  rowsOfEach(member: Member, operation: 'update' | 'delete' | 'undelete'): Rows<object> | undefined {
    const { surround, rows } = this.of(member)
    return surround(operation) || member.model.events !== undefined ? rows : undefined
  }

  surround(member: Member, operation: 'update' | 'delete' | 'undelete'): boolean {
    return this.of(member).surround(operation)
  }

  get snapshot(): Snapshot<SqlCall> | undefined {
    const {
      transactions: { isSnapshotFixed },
    } = this.source.database.dialect
    if (isSnapshotFixed === undefined) return undefined
    const statement = named(isSnapshotFixed)
    return {
      settings: { isolation: 'read committed' },
      isFixed: async (call) => (await call.on.run(statement, [], call)).rows[0]?.[0] === 't',
    }
  }

  /**
   * Returns true if a statement locks the rows that it reads. In a distributed database, rows of all tenants
   * cannot be locked. Foreign keys keep removals consistent there, and every write names the tenant of its
   * row.
   */
  locks({ model }: Member, { tenant }: RowsAsked): boolean {
    return tenant !== undefined || model.tenant === undefined || this.source.database.isDistributed !== true
  }

  rows(call: SqlCall, sources: Sources): StoredRows {
    return new SqlStoredRows(this, call, sources)
  }
}

const IN_SEQUENCE = named(READ_IN_SEQUENCE)

/** The maximum number of keys in one statement, on every engine. */
const MAX_KEYS = 1000

class SqlStoredRows implements StoredRows {
  #isInSequence = false

  constructor(
    private readonly family: SqlFamily,
    private readonly call: SqlCall,
    private readonly sources: Sources,
  ) {}

  async get(
    member: Member,
    { key, tenant, where }: Target,
    lock: 'update' | 'share',
  ): Promise<StoredRow | undefined> {
    const asked = { keys: [key], tenant, where }
    return (await this.#select(member, asked, lock === 'update' ? LOCKED : { lock, wait: 'block' }))[0]
  }

  async find(
    edge: Edge,
    parents: readonly StoredRow[],
    { state, where }: Which,
    limit: number,
  ): Promise<StoredRow[]> {
    const found: StoredRow[] = []
    for (const among of this.#referring(edge, parents)) {
      if (found.length >= limit) break
      found.push(
        ...(await this.#select(edge.child, { ...among, state, where }, LOCKED, limit - found.length)),
      )
    }
    return found
  }

  async count(
    edge: Edge,
    parents: readonly StoredRow[],
    { state, where }: Which,
    limit: number,
  ): Promise<number> {
    const { statements } = this.family.of(edge.child)
    let counted = 0
    for (const among of this.#referring(edge, parents)) {
      if (counted >= limit) break
      const isLocked = await this.#locks(edge.child, among)
      const asked = { ...among, state, where }
      const { rows } = await this.#send(statements.count(asked, limit - counted, isLocked))
      counted += Number(rows[0]?.[0])
    }
    return counted
  }

  async entities(rows: readonly StoredRow[]): Promise<object[]> {
    const found: object[] = []
    for (const { member, key, tenant } of rows) {
      const { rows: all } = this.family.of(member)
      const entity = await all.get(this.call, { key, tenant }, { showDeleted: true })
      if (entity !== undefined) found.push(entity)
    }
    return found
  }

  async deletionTime(rows: readonly StoredRow[]): Promise<Date | undefined> {
    if (rows[0]?.member.undeletedBy !== 'time') return undefined
    let latest = nowOf(this.sources).getTime() - 1
    for (const parents of byMember(rows))
      for (const edge of (parents[0]?.member.children ?? []).filter(comesBack))
        for (const among of this.#referring(edge, parents)) {
          const asked = { ...among, state: 'deleted', isLatestFirst: true } as const
          const [row] = await this.#select(edge.child, asked, LOCKED, 1)
          if (row?.deleteId !== undefined) latest = Math.max(latest, Number(row.deleteId))
        }
    return new Date(latest + 1)
  }

  async softDelete(rows: readonly StoredRow[], deleteId: string): Promise<void> {
    const [first] = rows
    if (first === undefined) return
    const { model, undeletedBy } = first.member
    const { statements } = this.family.of(first.member)
    const each = this.family.rowsOfEach(first.member, 'delete')
    const at = undeletedBy === 'time' && model.deleteTime !== undefined
    const patch = {
      ...deletionOf(model, this.sources),
      ...(at && { [model.deleteTime.property]: new Date(Number(deleteId)) }),
    }
    if (each === undefined)
      return this.#update(
        rows,
        [...writtenOf(first.member, patch), ...statements.deletionMark(deleteId)],
        'live',
      )
    for (const { key, tenant } of rows) await each.delete(this.call, { row: { key, tenant }, values: patch })
    await this.mark(rows, deleteId)
  }

  async mark(rows: readonly StoredRow[], deleteId: string | undefined): Promise<void> {
    const [first] = rows
    if (first === undefined) return
    const mark = this.family.of(first.member).statements.deletionMark(deleteId)
    if (mark.length > 0) await this.#update(rows, mark, 'all')
  }

  async restore(rows: readonly StoredRow[]): Promise<void> {
    const [first] = rows
    if (first === undefined) return
    const { statements } = this.family.of(first.member)
    const each = this.family.rowsOfEach(first.member, 'undelete')
    const patch = restorationOf(first.member.model, this.sources)
    if (each === undefined)
      return this.#update(
        rows,
        [...writtenOf(first.member, patch), ...statements.deletionMark(undefined)],
        'deleted',
      )
    await this.mark(rows, undefined)
    for (const { key, tenant } of rows)
      await each.undelete(this.call, { row: { key, tenant }, values: patch })
  }

  async unset({ child, relation }: Edge, rows: readonly StoredRow[]): Promise<void> {
    const each = this.family.rowsOfEach(child, 'update')
    const plain = each === undefined ? rows : rows.filter(({ isDeleted }) => isDeleted)
    const patch = { ...serverSetValues(child.model, this.sources), [relation.reference.property]: undefined }
    await this.#update(plain, writtenOf(child, patch), 'all')
    if (each === undefined) return
    for (const { key, tenant, isDeleted } of rows)
      if (!isDeleted) await each.update(this.call, { row: { key, tenant }, values: patch })
  }

  clear({ relation }: Edge, rows: readonly StoredRow[]): Promise<void> {
    return this.#update(rows, [[relation.reference, undefined]], 'all')
  }

  async remove(rows: readonly StoredRow[]): Promise<void> {
    const [first] = rows
    if (first === undefined) return
    const { member } = first
    const { rows: all, surround } = this.family.of(member)
    const values = deletionOf(member.model, this.sources)
    const isRemovedNext = isSoft(member)
    const deleteEach = async (of: readonly StoredRow[]) => {
      for (const { key, tenant, isDeleted } of of)
        if (!isDeleted) await all.delete(this.call, { row: { key, tenant }, values, isRemovedNext })
    }
    if (isRemovedNext) return this.#purge(rows, surround('delete') ? deleteEach : undefined)
    if (this.family.rowsOfEach(member, 'delete') !== undefined) return deleteEach(rows)
    await this.#purge(rows)
  }

  purge(rows: readonly StoredRow[]): Promise<void> {
    return this.#purge(rows)
  }

  /**
   * Permanently removes rows without hooks.
   *
   * @param before - called with the rows of each statement before it runs.
   */
  async #purge(
    rows: readonly StoredRow[],
    before?: (of: readonly StoredRow[]) => Promise<void>,
  ): Promise<void> {
    for (const { member, rows: of, ...asked } of inGroups(rows)) {
      const { events, statements } = this.family.of(member)
      const remove = async () => {
        await before?.(of)
        await this.#send(statements.remove(asked))
      }
      if (events === undefined) await remove()
      else await events.purging(this.call, asked.keys, asked.tenant, remove)
    }
  }

  callsHooks(operation: 'update' | 'delete' | 'undelete', members: Iterable<Member>): boolean {
    return [...members].some((member) => this.family.of(member).surround(operation))
  }

  expired(
    member: Member,
    before: Date,
    tenant: string | undefined,
    after: StoredRow | undefined,
    limit: number,
  ): Promise<StoredRow[]> {
    return this.#select(member, { tenant, expired: { before, after } }, LOCKED, limit)
  }

  async #select(member: Member, asked: RowsAsked, lock: typeof LOCKED, limit?: number): Promise<StoredRow[]> {
    const { statements } = this.family.of(member)
    const held = (await this.#locks(member, asked)) ? lock : undefined
    const { rows } = await this.#send(statements.select(asked, held, limit))
    return rows.map(statements.rowOf)
  }

  async #locks(member: Member, asked: RowsAsked): Promise<boolean> {
    const isLocked = this.family.locks(member, asked)
    if (!isLocked && !this.#isInSequence) {
      await this.#send({ statement: IN_SEQUENCE, values: [] })
      this.#isInSequence = true
    }
    return isLocked
  }

  async #update(
    rows: readonly StoredRow[],
    written: Written,
    state: 'live' | 'deleted' | 'all',
  ): Promise<void> {
    for (const { member, tenant, keys } of inGroups(rows))
      await this.#send(this.family.of(member).statements.update(written, { tenant, keys, state }))
  }

  /** Run one statement per tenant, because a key only identifies a row together with its tenant. */
  *#referring({ child, relation }: Edge, parents: readonly StoredRow[]): Generator<RowsAsked> {
    const { reference: field } = relation
    for (const { tenant, rows } of byTenant(parents))
      for (const keys of chunks(rows.map(({ key }) => key)))
        yield { tenant: child.model.tenant === undefined ? undefined : tenant, among: { field, keys } }
  }

  #send({ statement, values }: Bound) {
    return this.call.on.run(statement, values, this.call)
  }
}

/** Returns the columns and values of a patch. */
const writtenOf = ({ model }: Member, patch: Readonly<Values>): Written =>
  model.fields
    .filter(({ property }) => Object.hasOwn(patch, property))
    .map((field) => [field, patch[field.property]])

/** Groups rows that one statement can write. */
function* inGroups(rows: readonly StoredRow[]): Generator<{
  readonly member: Member
  readonly tenant: string | undefined
  readonly keys: readonly string[]
  readonly rows: readonly StoredRow[]
}> {
  const [first] = rows
  if (first === undefined) return
  for (const { tenant, rows: all } of byTenant(rows))
    for (const of of chunks(all))
      yield { member: first.member, tenant, keys: of.map(({ key }) => key), rows: of }
}

function* chunks<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += MAX_KEYS) yield all.slice(at, at + MAX_KEYS)
}

/** Groups rows by tenant, in key order. The fixed order prevents deadlocks between two deletions. */
function byTenant(
  rows: readonly StoredRow[],
): readonly { readonly tenant: string | undefined; readonly rows: readonly StoredRow[] }[] {
  const groups = new Map<string | undefined, StoredRow[]>()
  for (const row of rows) {
    const group = groups.get(row.tenant)
    if (group === undefined) groups.set(row.tenant, [row])
    else group.push(row)
  }
  return [...groups].map(([tenant, of]) => ({ tenant, rows: of }))
}
