import { type Message } from '@bufbuild/protobuf'
import type { ServedMethod } from '../../server/served-methods.js'
import { kindOf } from '../../resource/kinds/kinds.js'
import { aNameOf, inField, read } from './dependence.js'
import type { VariedRequest } from './effects.js'
import { keysWith, type NamingRequest, rowsFor } from './naming-request.js'
import { dependsOn, type Seen } from './responses/depends-on.js'
import { spokenOf } from './scenes.js'
import type { ListenerClient } from './wire/listener-clients.js'
import { sendPages } from './world/send-pages.js'
import { requestFor } from './world/requests.js'
import { maskableFields } from './world/samples.js'
import { type FieldNames, freeFieldsOf, pathsOf, variantsOf } from './world/variants.js'
import { isReadable } from './world/watched-rows.js'
import { draft, newKey, type Row, type Side, type World } from './world/world.js'

/** The maximum number of pages, which most methods do not reach. */
export const MAX_PAGES = 100
/** The maximum number of field names in a reason. */
const MAX_NAMES = 5

/** A method's request with values of its booleans and enums. */
export interface Varied {
  readonly variant: string
  /** True if the values change what the call does rather than how it runs. */
  readonly isOfItsOwn: boolean
  readonly naming: NamingRequest
}

/**
 * Returns the request with each value of its booleans and enums, and with other options that requests may
 * have.
 */
export const variedOf = (
  world: World,
  naming: NamingRequest,
): { readonly all: readonly Varied[]; readonly untried: readonly string[] } => {
  const { desc } = naming.method
  const keys = naming.named.map((subject) => newKey(subject, world.a))
  const sample = naming.make(keys)
  const held = new Set(
    keys.flatMap((key) => pathsOf(sample, desc.input, key.slice(key.lastIndexOf('/') + 1))),
  )
  const names = fieldNamesOf(world, naming)
  const { variants, missing } = variantsOf(desc.input, sample, { held, names })
  const free = freeFieldsOf(desc.input, (path) => held.has(path))
  const unread = naming.named.filter((subject) => subject.isTenants && !isReadable(subject))
  return {
    all: variants.map(({ name, isOfItsOwn, of }) => ({
      ...{ variant: name, isOfItsOwn },
      naming: { ...naming, make: (some) => of(naming.make(some)) },
    })),
    untried: [
      ...(free.length === 0 ? [] : [`other values of ${listed(free)}`]),
      ...(missing === '' ? [] : [missing]),
      ...unread.map(
        ({ message }) => `whether it changes a ${message.name}, which has neither a Get nor a repository`,
      ),
    ],
  }
}

/** Returns the names that masks and sort orders of a request may contain. */
const fieldNamesOf = (world: World, { named, method }: NamingRequest): FieldNames => {
  const about = world.subjects.filter(
    (subject) => named.includes(subject) || subject.message === method.resource,
  )
  const writable = about.flatMap((subject) => maskableFields(subject).map(({ name }) => name))
  const sortable = about.flatMap(({ message, repository }) =>
    repository === undefined
      ? message.fields.filter(({ scalar }) => scalar !== undefined).map(({ name }) => name)
      : Object.entries(repository.model.columns).flatMap(([name, column]) =>
          typeof column === 'string' || kindOf(column).isSortable ? [name] : [],
        ),
  )
  const { output } = method.desc
  // The mask of a list contains fields of its resources.
  const shown =
    output.fields
      .filter(({ fieldKind }) => fieldKind === 'list')
      .flatMap(({ message }) => world.subjects.find((subject) => subject.message === message)?.message ?? [])
      .at(0) ?? output
  return {
    writable: [...new Set(writable)],
    sortable: sortable.length === 0 ? ['id'] : [...new Set(sortable)],
    returned: shown.fields.map(({ name }) => name),
  }
}

const listed = (names: readonly string[]): string =>
  names.slice(0, MAX_NAMES).join(', ') +
  (names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '')

/** Calls the method as the owner of new rows of the first tenant. */
export const usedRequest = async (
  world: World,
  { variant, naming }: Pick<Varied, 'variant' | 'naming'>,
  make: (rows: readonly Row[]) => Message = (rows) => naming.make(rows.map(({ key }) => key)),
): Promise<VariedRequest> => {
  const { probe, a } = world
  const [listener] = probe.listeners
  const use = async (rows: readonly Row[]) =>
    listener && probe.send(listener, naming.method.desc, make(rows), a)
  const used = await rowsFor(world, naming, a)
  if (typeof used !== 'string') await use(used)
  return { ...naming, variant, used: typeof used === 'string' ? [] : used, usedAt: Date.now(), use }
}

/**
 * Checks that a method's response is the same for another tenant's row and for a missing one, also after the
 * row's owner has called it.
 */
export const checkUsed = async (world: World, varied: Varied, listener: ListenerClient): Promise<void> => {
  const { naming } = varied
  for (const [index, subject] of naming.named.entries()) {
    if (!subject.isTenants) continue
    const first = await seenWhenUsed(world, varied, index, listener)
    const again = first.length === 0 ? [] : await seenWhenUsed(world, varied, index, listener)
    const path = first.find((one) => again.includes(one))
    if (path === undefined) continue
    world.probe.findings.add(
      'isolation',
      naming.method.path,
      `what it returns${inField(path)} depends on ${aNameOf([subject])} of another tenant, which has called it`,
      listener.name,
    )
  }
}

const seenWhenUsed = async (
  world: World,
  varied: Varied,
  index: number,
  listener: ListenerClient,
): Promise<readonly string[]> => {
  const { probe, a, b } = world
  const { method, named, make } = varied.naming
  const seen: Seen[] = []
  for (const state of ['absent', 'absent', 'first', 'first'] as const) {
    const [subject, own] = [named[index], await rowsFor(world, varied.naming, b)]
    const { used } = await usedRequest(world, varied)
    const row = used[index]
    if (typeof own === 'string' || subject === undefined || row === undefined) return []
    const key = state === 'absent' ? newKey(subject, a) : row.key
    const request = make(keysWith(own, index, key))
    const { outcomes } = await sendPages(probe, listener, method.desc, request, b, MAX_PAGES)
    if (outcomes.length === 0) return []
    const spoken = spokenOf(own.map((one, at) => (at === index ? { ...one, key } : one)))
    seen.push({ state, response: read(world, outcomes, { spoken }) })
  }
  return dependsOn(seen)
}

/** Returns application functions that replace a writing standard method, with requests that name a row. */
export const ownWrites = async (
  world: World,
  methods: readonly ServedMethod[],
): Promise<readonly VariedRequest[]> => {
  const all: VariedRequest[] = []
  for (const method of methods) {
    const { standard, isOwn, desc } = method
    const subject = world.subjects.find((one) => one.methods.some(({ path }) => path === method.path))
    if (!isOwn || standard === undefined || subject === undefined || !WRITES.has(standard.kind)) continue
    const isCreate = standard.kind === 'create'
    const makeAs =
      (side: Side) =>
      (key: string): Message =>
        requestFor(
          side,
          subject,
          { ...method, standard },
          {
            key: isCreate && subject.isIdentity ? '' : key,
            entity: draft(world, subject, side),
            mask: maskableFields(subject)
              .slice(0, 1)
              .map(({ name }) => name),
          },
        )
    const named = isCreate ? [] : [subject]
    const keyOf = (side: Side, [key]: readonly string[]) => (isCreate ? newKey(subject, side) : (key ?? ''))
    const { variants } = variantsOf(desc.input, makeAs(world.b)(newKey(subject, world.b)), { deepest: 0 })
    for (const { name, of } of variants) {
      const make = (side: Side) => (keys: readonly string[]) => of(makeAs(side)(keyOf(side, keys)))
      const naming = { method, named, make: make(world.b) }
      const varied = { variant: name, naming }
      const asOwner = (rows: readonly Row[]) => make(world.a)(rows.map(({ key }) => key))
      all.push(await usedRequest(world, varied, asOwner))
    }
  }
  return all
}

const WRITES: ReadonlySet<string> = new Set(['create', 'update', 'delete', 'batchUpdate', 'batchDelete'])
