import type { Message } from '@bufbuild/protobuf'
import { type Filter, filter } from '../../persistence/index.js'
import { keyTextIn } from '../../server/methods/scope/wire-keys.js'
import type { State } from './responses/depends-on.js'
import type { Scene } from './dependence.js'
import { keysWith, type NamingRequest, rowsFor } from './naming-request.js'
import { type RowReach, typesOf } from './row-isolation.js'
import {
  addRows,
  changeRow,
  type Contents,
  isBelow,
  newContents,
  readRow,
  removeRow,
  rowNear,
} from './world/hidden-rows.js'
import { oneOf } from './world/key-filter.js'
import type { Location } from './world/requests.js'
import type { Subject } from './world/subjects.js'
import { newKey, type Row, type Side, storeRow, type World } from './world/world.js'

type Rows = ReadonlyMap<Subject, Row>

/** Creates a scene with rows of the caller's own tenant that a row-level decision excludes. */
export const excludedRows = async (
  world: World,
  naming: NamingRequest,
  subjects: readonly Subject[],
  reach: RowReach,
): Promise<Scene | undefined> => {
  const { a } = world
  const rows = await rowsFor(world, naming, a)
  if (typeof rows === 'string') return undefined
  const near = new Map(naming.named.map((subject, at) => [subject, rows[at] as Row]))
  await addBetween(world, a, near)
  const add = (contents: Contents) => addRows(world, subjects, a, near, contents, false)
  const shown = (hidden: Rows) => exclude(reach, a, subjects, hidden)
  return coming(world, a, {
    ...{ add, shown, rows },
    request: naming.make(rows.map(({ key }) => key)),
    spoken: spokenOf(rows),
  })
}

/** Creates a scene with rows of another tenant, some with the same keys as the caller's own rows. */
export const foreignRows = async (
  world: World,
  naming: NamingRequest,
  subjects: readonly Subject[],
): Promise<Scene | undefined> => {
  const { a, b } = world
  const rows = await rowsFor(world, naming, b)
  if (typeof rows === 'string') return undefined
  const add = async (contents: Contents): Promise<Rows> => {
    const twins = new Map<Subject, Row>()
    for (const [at, subject] of naming.named.entries()) {
      if (!subjects.includes(subject) || twins.has(subject)) continue
      const twin = await storeRow(world, subject, a, rows[at]?.key, contents.first(subject)).catch(() => '')
      if (typeof twin === 'object') twins.set(subject, twin)
    }
    const others = subjects.filter((subject) => !twins.has(subject))
    return new Map([...twins, ...(await addRows(world, others, a, twins, contents, true))])
  }
  const request = naming.make(rows.map(({ key }) => key))
  return coming(world, a, { add, shown: () => {}, rows, request, spoken: spokenOf(rows) })
}

/** Creates a scene that excludes the parents and references of the request's rows. */
export const rowsAbove = async (
  world: World,
  naming: NamingRequest,
  [subject]: readonly Subject[],
  reach: RowReach,
): Promise<Scene | undefined> => {
  const { a } = world
  const rows = await rowsFor(world, naming, a)
  if (subject === undefined || typeof rows === 'string') return undefined
  const above = await aboveOf(world, subject, naming, rows)
  if (above === undefined) return undefined
  exclude(reach, a, [subject], new Map([[subject, above]]))
  const contents = newContents(a)
  let changed = above
  return {
    request: naming.make(rows.map(({ key }) => key)),
    get hidden() {
      return new Map([[subject, changed]])
    },
    shown: rows,
    spoken: spokenOf(rows),
    to: async (state) => {
      await changeRow(world, subject, a, above, contents[state === 'other' ? 'other' : 'first'](subject))
      // Another row may contain a copy of its previous values.
      changed = (await readRow(subject, a, above.key)) ?? above
      return true
    },
    end: () => Promise.resolve(),
  }
}

/** A row that the request names. */
export interface NamedAt {
  readonly index: number
  /** The caller of the method. */
  readonly caller: Side
  /** The owner of the row. */
  readonly owner: Side
  readonly reach?: RowReach
}

export const namedRow = async (
  world: World,
  naming: NamingRequest,
  { index, caller, owner, reach }: NamedAt,
): Promise<Scene | undefined> => {
  const subject = naming.named[index] as Subject
  const rows = await rowsFor(world, naming, caller)
  if (typeof rows === 'string' || subject.repository === undefined) return undefined
  const contents = newContents(owner)
  let hidden: Row | undefined
  const keyed = () =>
    hidden === undefined ? rows : rows.map((row, at) => (at === index ? (hidden as Row) : row))
  let request: Message | undefined
  return {
    get request() {
      return request ?? naming.make(rows.map(({ key }) => key))
    },
    get hidden() {
      return hidden === undefined ? new Map<Subject, Row>() : new Map([[subject, hidden]])
    },
    shown: rows.filter((_, at) => at !== index),
    get spoken() {
      return spokenOf(keyed())
    },
    to: async (state) => {
      if (state === 'absent') return hidden !== undefined && removeRow(subject, owner, hidden)
      const isNew = hidden === undefined || (await readRow(subject, owner, hidden.key)) === undefined
      if (isNew) hidden = await rowNear(world, subject, owner, new Map(), contents.first(subject))
      if (hidden === undefined) return false
      if (isNew) request = naming.make(keysWith(rows, index, hidden.key))
      if (reach !== undefined) exclude(reach, owner, [subject], new Map([[subject, hidden]]))
      if (!isNew || state === 'other')
        await changeRow(world, subject, owner, hidden, contents[state](subject))
      return true
    },
    end: async () => {
      if (hidden !== undefined) await removeRow(subject, owner, hidden)
    },
  }
}

/** Excludes the rows by a row-level decision, and creates them if they do not exist. */
export const exclude = (
  reach: RowReach,
  location: Location,
  subjects: readonly Subject[],
  hidden: Rows,
): void => {
  const where = new Map<string, Filter>()
  for (const subject of subjects) {
    const { key } = hidden.get(subject) ?? { key: newKey(subject, location) }
    for (const type of typesOf(subject)) where.set(type, filter`NOT ${oneOf(subject, [key])}`)
  }
  reach.where = where
}

interface Coming {
  readonly add: (contents: Contents) => Promise<Rows>
  readonly shown: (hidden: Rows) => void
  readonly rows: readonly Row[]
  readonly request: Message
  readonly spoken: ReadonlyMap<string, string>
}

const coming = (world: World, side: Side, { add, shown, rows, request, spoken }: Coming): Scene => {
  const contents = newContents(side)
  let hidden: Rows = new Map()
  let is: State = 'absent'
  const remove = async (): Promise<boolean> => {
    let isGone = true
    for (const [subject, row] of [...hidden].reverse())
      isGone = (await removeRow(subject, side, row)) && isGone
    hidden = new Map()
    return isGone
  }
  shown(hidden)
  return {
    request,
    get hidden() {
      return hidden
    },
    shown: rows,
    spoken,
    to: async (state) => {
      if (state === 'absent') {
        if (!(await remove())) return false
      } else if (is === 'absent') {
        hidden = await add(contents)
        if (hidden.size === 0) return false
      }
      if (state === 'other' || (state === 'first' && is === 'other'))
        for (const [subject, row] of hidden)
          await changeRow(world, subject, side, row, contents[state](subject))
      shown(hidden)
      is = state
      return true
    },
    end: async () => void (await remove()),
  }
}

/** Adds accessible rows on the levels between the rows in `near` and the resources that have none yet. */
const addBetween = async (world: World, side: Side, near: Map<Subject, Row>): Promise<void> => {
  for (const subject of world.subjects) {
    if (near.has(subject) || ![...near.keys()].some((above) => isBelow(subject, above))) continue
    if (!world.subjects.some((below) => !near.has(below) && below !== subject && isBelow(below, subject)))
      continue
    const row = await rowNear(world, subject, side, near)
    if (row !== undefined) near.set(subject, row)
  }
}

/** The maximum number of levels of parents and references that are followed. */
const HIGHEST = 3

const aboveOf = async (
  { a, subjects }: World,
  subject: Subject,
  { named }: NamingRequest,
  rows: readonly Row[],
): Promise<Row | undefined> => {
  let level = named.map((below, at) => [below, rows[at] as Row] as const)
  for (let height = 0; height < HIGHEST; height++) {
    const next: (readonly [Subject, Row])[] = []
    for (const [below, row] of level)
      for (const above of subjects) {
        const key = keyAbove(a, above, below, row)
        if (key === undefined || rows.some((one) => one.key === key)) continue
        const found = await readRow(above, a, key)
        if (found !== undefined && above === subject) return found
        if (found !== undefined) next.push([above, found])
      }
    level = next
  }
  return undefined
}

/** Returns the key of a row's parent or reference. */
const keyAbove = (
  location: Location,
  subject: Subject,
  below: Subject,
  { key, message }: Row,
): string | undefined => {
  const parent = below.name?.parent?.text
  if (parent !== undefined && parent === subject.name?.pattern)
    return key.split('/').slice(0, parent.split('/').length).join('/')
  const { field } = below.references.find(({ target }) => target === subject.entity) ?? {}
  const value = field && keyTextIn(message, field)
  if (value === undefined || value === '') return undefined
  return subject.name === undefined ? value : newKey(subject, location).replace(/[^/]*$/, () => value)
}

export const spokenOf = (rows: readonly Row[]): ReadonlyMap<string, string> =>
  new Map(
    rows.flatMap(({ key }, at) => [
      [key, `<${at}>`] as const,
      ...(key.includes('/') ? [[key.slice(key.lastIndexOf('/') + 1), `<${at} id>`] as const] : []),
    ]),
  )
