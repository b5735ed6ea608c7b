import { byCodePoint } from '../../../lib/text/code-point-order.js'

export const KINDS = ['club', 'member', 'fee'] as const
export type Kind = (typeof KINDS)[number]

/** What a resource refers to, by the name of the relation. */
export type Refs = Readonly<Record<string, string | undefined>>

export interface Row {
  readonly kind: Kind
  readonly id: string
  title: string
  refs: Refs
  makerId: string
  isDeleted: boolean
  /** Of the rows that were deleted together. */
  deletion: number | undefined
  readonly isExpired: boolean
}

/** What a caller sees of a row: what it refers to as titles, where that is live. */
export interface Seen {
  readonly id: string
  readonly title: string
  readonly refs: Refs
  readonly makerId: string
  readonly isDeleted: boolean
  readonly shown: Refs
}

/** What an operation comes to: the rows of its response, or codes of which it may return one. */
export type Expected = { readonly rows: readonly Seen[] } | { readonly codes: readonly number[] }

export type Change = Pick<Row, 'id'> & Partial<Pick<Row, 'title' | 'refs' | 'makerId'>>

export type Operation =
  | { readonly op: 'create'; readonly kind: Kind; readonly change: Change; readonly isExpired: boolean }
  | { readonly op: 'update'; readonly kind: Kind; readonly change: Change }
  | { readonly op: 'batchUpdate'; readonly kind: 'member'; readonly changes: readonly Change[] }
  | {
      readonly op: 'delete' | 'batchDelete'
      readonly kind: Kind
      readonly ids: readonly string[]
      readonly force: boolean
    }
  | { readonly op: 'undelete' | 'get'; readonly kind: Kind; readonly id: string }
  | { readonly op: 'batchGet'; readonly kind: Kind; readonly ids: readonly string[] }
  | { readonly op: 'list'; readonly kind: Kind; readonly showDeleted: boolean }
  | { readonly op: 'purge'; readonly kind: Kind }

interface Edge {
  readonly child: Kind
  readonly name: string
  readonly parent: Kind
  readonly rule: 'cascade' | 'set null' | 'restrict'
}

export const EDGES: readonly Edge[] = [
  { child: 'member', name: 'club', parent: 'club', rule: 'cascade' },
  { child: 'member', name: 'buddy', parent: 'member', rule: 'set null' },
  { child: 'fee', name: 'member', parent: 'member', rule: 'restrict' },
]

const [INVALID, NOT_FOUND, TAKEN, PRECONDITION] = [3, 5, 6, 9]

/** What one tenant has, and what every operation on it comes to: no other tenant is in it. */
export class ClubModel {
  readonly #rows: Row[] = []
  #deletions = 0

  all(kind: Kind): readonly Seen[] {
    return this.#list(kind, true)
  }

  apply(operation: Operation): Expected {
    const { kind } = operation
    switch (operation.op) {
      case 'create':
        return this.#create(kind, operation.change, operation.isExpired)
      case 'update':
        return this.#update(kind, [operation.change])
      case 'batchUpdate':
        return this.#update(kind, operation.changes)
      case 'delete':
      case 'batchDelete':
        return this.#delete(kind, operation.ids, operation.force)
      case 'undelete':
        return this.#undelete(kind, operation.id)
      case 'get':
        return this.#get(kind, [operation.id])
      case 'batchGet':
        return this.#get(kind, operation.ids)
      case 'list':
        return { rows: this.#list(kind, operation.showDeleted) }
      case 'purge':
        this.#purge(kind)
        return { rows: [] }
    }
  }

  #create(kind: Kind, { id, title = '', refs = {}, makerId = '' }: Change, isExpired: boolean): Expected {
    if (!this.#areLive(kind, refs) || (kind === 'fee' && refs['member'] === undefined))
      return { codes: [INVALID] }
    if (this.#find(kind, id) !== undefined) return { codes: [TAKEN] }
    const row = { kind, id, title, refs, makerId, isDeleted: false, deletion: undefined, isExpired }
    this.#rows.push(row)
    return { rows: [this.#seen(row)] }
  }

  #update(kind: Kind, changes: readonly Change[]): Expected {
    const codes = changes.flatMap(({ id, refs = {} }) => {
      if (this.#live(kind, id) === undefined) return [NOT_FOUND]
      return this.#areLive(kind, refs) ? [] : [INVALID]
    })
    if (codes.length > 0) return { codes }
    for (const { id, title, refs, makerId } of changes) {
      const row = this.#live(kind, id) as Row
      row.title = title ?? row.title
      row.makerId = makerId ?? row.makerId
      row.refs = { ...row.refs, ...refs }
    }
    return { rows: changes.map(({ id }) => this.#seen(this.#live(kind, id) as Row)) }
  }

  #delete(kind: Kind, ids: readonly string[], force: boolean): Expected {
    const roots = ids.flatMap((id) => this.#live(kind, id) ?? [])
    if (roots.length < ids.length) return { codes: [NOT_FOUND] }
    const found = new Set(roots)
    const along = roots.map((root) => {
      const all = this.#below(root, ({ rule }, child) => {
        if (child.isDeleted || found.has(child) || rule === 'set null') return false
        return rule === 'cascade' || force
      })
      for (const row of all) found.add(row)
      return all
    })
    const stay = [...found]
      .flatMap((row) => this.#children(row))
      .filter(({ row }) => !row.isDeleted && !found.has(row))
    if (stay.some(({ edge }) => edge.rule !== 'set null')) return { codes: [PRECONDITION] }
    for (const { row, edge } of stay) row.refs = { ...row.refs, [edge.name]: undefined }
    for (const [i, root] of roots.entries()) {
      const others = along[i] as Row[]
      root.isDeleted = true
      if (others.length === 0) continue
      const deletion = ++this.#deletions
      for (const row of [root, ...others]) Object.assign(row, { isDeleted: true, deletion })
    }
    return { rows: [] }
  }

  #undelete(kind: Kind, id: string): Expected {
    const root = this.#find(kind, id)
    if (root?.isDeleted !== true) return { codes: [NOT_FOUND] }
    const { deletion } = root
    const back = new Set([
      root,
      ...this.#below(root, (_, child) => deletion !== undefined && child.deletion === deletion),
    ])
    const lost = [...back].some((row) =>
      this.#parents(row).some((parent) => parent.isDeleted && !back.has(parent)),
    )
    if (lost) return { codes: [PRECONDITION] }
    for (const row of back) Object.assign(row, { isDeleted: false, deletion: undefined })
    return { rows: [this.#seen(root)] }
  }

  #get(kind: Kind, ids: readonly string[]): Expected {
    const rows = ids.flatMap((id) => this.#live(kind, id) ?? [])
    return rows.length < ids.length ? { codes: [NOT_FOUND] } : { rows: rows.map((row) => this.#seen(row)) }
  }

  #list(kind: Kind, showDeleted: boolean): readonly Seen[] {
    return this.#rows
      .filter((row) => row.kind === kind && (showDeleted || !row.isDeleted))
      .sort((a, b) => byCodePoint(a.id, b.id))
      .map((row) => this.#seen(row))
  }

  #purge(kind: Kind): void {
    const expired = this.#rows.filter((row) => row.kind === kind && row.isExpired)
    const bare = expired.filter((row) => this.#children(row).length === 0)
    this.#remove(bare)
    for (const root of expired.filter((row) => !bare.includes(row)).sort((a, b) => byCodePoint(a.id, b.id))) {
      if (!this.#rows.includes(root)) continue
      const isTaken = ({ rule }: Edge, { deletion }: Row) =>
        rule === 'cascade' || (rule !== 'set null' && deletion !== undefined && deletion === root.deletion)
      const gone = new Set([root, ...this.#below(root, isTaken)])
      const stay = [...gone].flatMap((row) => this.#children(row)).filter(({ row }) => !gone.has(row))
      if (stay.some(({ edge }) => edge.rule !== 'set null')) continue
      for (const { row, edge } of stay) row.refs = { ...row.refs, [edge.name]: undefined }
      this.#remove([...gone])
    }
  }

  #remove(rows: readonly Row[]): void {
    for (const row of rows) this.#rows.splice(this.#rows.indexOf(row), 1)
  }

  /** What refers to a row, and to that, as far as `takes` says. */
  #below(root: Row, takes: (edge: Edge, child: Row) => boolean): Row[] {
    const all = [root]
    for (const row of all)
      for (const { edge, row: child } of this.#children(row))
        if (!all.includes(child) && takes(edge, child)) all.push(child)
    return all.slice(1)
  }

  #children(parent: Row): { readonly edge: Edge; readonly row: Row }[] {
    return EDGES.filter((edge) => edge.parent === parent.kind).flatMap((edge) =>
      this.#rows
        .filter((row) => row.kind === edge.child && row.refs[edge.name] === parent.id)
        .map((row) => ({ edge, row })),
    )
  }

  #parents({ kind, refs }: Pick<Row, 'kind' | 'refs'>): Row[] {
    return EDGES.filter(({ child }) => child === kind).flatMap(
      ({ name, parent }) => this.#find(parent, refs[name]) ?? [],
    )
  }

  #areLive(kind: Kind, refs: Refs): boolean {
    return EDGES.filter(({ child }) => child === kind).every(
      ({ name, parent }) => refs[name] === undefined || this.#live(parent, refs[name]) !== undefined,
    )
  }

  #seen({ kind, id, title, refs, makerId, isDeleted }: Row): Seen {
    const shown: Record<string, string | undefined> = {}
    for (const { child, name, parent } of EDGES)
      if (child === kind) shown[name] = this.#live(parent, refs[name])?.title
    return { id, title, refs: defined(refs), makerId, isDeleted, shown: defined(shown) }
  }

  #live(kind: Kind, id: string | undefined): Row | undefined {
    const row = this.#find(kind, id)
    return row?.isDeleted === false ? row : undefined
  }

  #find(kind: Kind, id: string | undefined): Row | undefined {
    return this.#rows.find((row) => row.kind === kind && row.id === id)
  }
}

export const defined = (values: Refs): Refs =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== ''))
