import type { Message } from '@bufbuild/protobuf'
import { RequestContext } from '../../../context.js'
import { newCanary } from '../leaks/canary.js'
import { oneOf } from './key-filter.js'
import { parentAt } from './requests.js'
import { maskableFields } from './samples.js'
import type { Subject } from './subjects.js'
import {
  type Content,
  draft,
  fromAbove,
  newKey,
  nextNumber,
  type Row,
  sendRow,
  type Side,
  storeRow,
  type World,
} from './world.js'

/** Rows that become the parents or references of further rows. */
export type Near = ReadonlyMap<Subject, Row>

/** Recognizable values for each resource, and a second set that differs in every field. */
export interface Contents {
  readonly first: (subject: Subject) => Content
  readonly other: (subject: Subject) => Content
}

/** Above every other number that the check uses, but still a 32-bit number. */
const HIGH = 700_000_000

export const newContents = ({ text }: Side): Contents => {
  const numbers = new Map<Subject, number>()
  const other = { n: 0, text: newCanary('Q'), isOther: true }
  return {
    first: (subject) => {
      const n = numbers.get(subject) ?? HIGH + nextNumber()
      numbers.set(subject, n)
      return { n, text }
    },
    other: () => other,
  }
}

/**
 * Creates a row below the given rows, or one that refers to them. Resolves to undefined if it is rejected.
 */
export const rowNear = async (
  world: World,
  subject: Subject,
  side: Side,
  near: Near,
  content?: Content,
): Promise<Row | undefined> => {
  const before = new Map(side.targets)
  for (const { target } of subject.references) {
    const [above, row] = [...near].find(([one]) => one.entity === target) ?? []
    if (above !== undefined && row !== undefined)
      side.targets.set(target, above.name?.parse(row.key)?.at(-1) ?? row.key)
  }
  const { name } = subject
  const [, parent] =
    [...near].find(([one]) => one.name !== undefined && one.name.pattern === name?.parent?.text) ?? []
  const asked =
    parent === undefined
      ? undefined
      : newKey(subject, side).replace(parentAt(side, subject) ?? '', () => parent.key)
  try {
    const stored = subject.repository && (await storeRow(world, subject, side, asked, content))
    if (typeof stored === 'object') return stored
    const sent = await sendRow(world, subject, side, asked, content)
    return typeof sent === 'object' ? sent : undefined
  } catch {
    return undefined // a missing row reveals nothing
  } finally {
    side.targets.clear()
    for (const [target, key] of before) side.targets.set(target, key)
  }
}

/** Returns true if a row of the resource can have a row of the other resource as its parent or reference. */
export const isBelow = (subject: Subject, above: Subject): boolean =>
  (subject.name?.parent !== undefined && subject.name.parent.text === above.name?.pattern) ||
  subject.references.some(({ target, isInName }) => target === above.entity && !isInName)

/** Changes every field that an update may write, through the repository. */
export const changeRow = async (
  world: World,
  subject: Subject,
  side: Side,
  { key }: Row,
  content: Content,
): Promise<void> => {
  const { repository } = subject
  if (repository === undefined) return
  const entity = repository.model.fromMessage(draft(world, subject, side, content))
  const kept = subject.references.map(({ field }) => field.name)
  const mask = maskableFields(subject)
    .map(({ name }) => name)
    .filter((name) => !kept.includes(name) && !subject.scope.has(name))
  const update = (fields: readonly string[]) =>
    as(side, () => repository.update(storedKey(subject, key), entity, fields)).then(
      () => true,
      () => false,
    )
  if (mask.length === 0 || (await update(mask))) return
  // One value may be rejected although the others are valid.
  for (const name of mask) await update([name])
}

/** Removes a row. Resolves to true if it no longer exists. */
export const removeRow = async (subject: Subject, side: Side, { key }: Row): Promise<boolean> => {
  const { repository } = subject
  if (repository === undefined) return false
  return as(side, () => repository.delete(storedKey(subject, key))).then(
    () => true,
    () => false,
  )
}

/** Returns a row as stored in its repository, including a soft-deleted one. */
export const storedRow = (subject: Subject, side: Side, key: string): Promise<object | undefined> => {
  const { repository } = subject
  if (repository?.model.deleteTime === undefined)
    return as(side, async () => repository?.get(storedKey(subject, key))).catch(() => undefined)
  return as(side, () => repository.list({ showDeleted: true }, { under: oneOf(subject, [key]) })).then(
    ({ items: [row] }) => row,
    () => undefined,
  )
}

/** Returns the number of rows that a tenant has in a repository, including soft-deleted ones. */
export const countRows = ({ repository }: Subject, side: Side): Promise<number> =>
  as(side, async () => repository?.count({ showDeleted: true }) ?? 0)

/** Returns a stored row as a message. */
export const readRow = async (subject: Subject, side: Side, key: string): Promise<Row | undefined> => {
  const entity = await storedRow(subject, side, key)
  const message = entity && subject.repository?.model.toMessage<Message>(entity)
  return message && { key, message }
}

const as = <T>({ tenant }: Side, fn: () => Promise<T>): Promise<T> =>
  RequestContext.as({ tenant, subject: 'security-check' }, fn)

/** Returns the part of a name that is the row's key in the repository. */
const storedKey = ({ name, repository }: Subject, key: string): string => {
  const own = repository?.model.key.property
  const at = name?.variables.findIndex(({ field }) => field.property === own) ?? -1
  const text = name?.parse(key)?.at(at) ?? key
  return (repository?.model.keys.keyOf(text) ?? text) as string
}

/**
 * Adds a row of each resource, parents first. Each row is placed near one of the added rows.
 * @param isChained - true if the added rows become the parents of the next ones.
 */
export const addRows = async (
  world: World,
  subjects: readonly Subject[],
  side: Side,
  near: Near,
  contents: Contents,
  isChained: boolean,
): Promise<ReadonlyMap<Subject, Row>> => {
  const added = new Map<Subject, Row>()
  for (const subject of fromAbove(subjects)) {
    const around = isChained ? new Map([...near, ...added]) : near
    const first = contents.first(subject)
    const row =
      (await rowNear(world, subject, side, around, first)) ??
      (await rowNear(world, subject, side, near, { ...first, n: nextNumber() }))
    if (row !== undefined) added.set(subject, row)
  }
  return added
}
