import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import { AshlarError, CODES } from '../../../lib/errors.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { type Change, defined, EDGES, type Kind, type Operation, type Refs, type Seen } from './club-model.js'
import type { ForeignClient } from '../../support/grpc/clients.js'
import { post } from '../../support/servers/server.js'

/** What a call came to. */
export interface Outcome {
  readonly code: number
  readonly rows: readonly Seen[]
  /** Whether the rows were asked for with what they refer to. */
  readonly shows: boolean
  /** The titles of what another process serves, by the id of the row; undefined where nobody asked. */
  readonly makers: readonly (string | undefined)[] | undefined
  /** Everything that the caller was sent. */
  readonly text: string
}

type Loose = Readonly<Record<string, unknown>>
export type Clubs = Readonly<Record<Kind, Repository<object>>>
export type Clients = Readonly<Record<Kind, ForeignClient>>

export const EXPIRED = new Date('2001-01-01')
const NOW = new Date('2026-01-01')
const relationsOf = (kind: Kind) => EDGES.filter(({ child }) => child === kind).map(({ name }) => name)
const MASKS: Readonly<Record<Kind, readonly string[]>> = {
  club: ['*'],
  member: ['*', 'club', 'buddy', 'maker'],
  fee: ['*', 'member'],
}
const NAMES = { club: ['Club', 'Clubs'], member: ['Member', 'Members'], fee: ['Fee', 'Fees'] } as const

/** By a repository, in the context of a tenant. */
export async function byRepository(clubs: Clubs, tenant: string, operation: Operation): Promise<Outcome> {
  const read = { with: relationsOf(operation.kind) } as never
  try {
    const entities = (await RequestContext.as({ tenant, subject: 'boss' }, () =>
      perform(clubs[operation.kind], operation, read),
    )) as Loose[]
    const isRead = ['get', 'batchGet', 'list'].includes(operation.op)
    for (const one of entities) expect(one['accountId']).to.equal(tenant)
    return {
      code: 0,
      shows: isRead,
      rows: entities.map((one) => seenIn(operation.kind, one, isRead)),
      makers: undefined,
      text: JSON.stringify(entities),
    }
  } catch (error) {
    if (!(error instanceof AshlarError)) throw error
    return {
      code: CODES[error.code],
      rows: [],
      shows: false,
      makers: undefined,
      text: JSON.stringify(error.details) + error.message,
    }
  }
}

async function perform(
  of: Repository<object>,
  operation: Operation,
  read: never,
): Promise<readonly object[]> {
  switch (operation.op) {
    case 'create':
      return [
        await of.create({
          ...valuesOf(operation.change),
          ...(operation.isExpired && { expireTime: EXPIRED }),
        } as never),
      ]
    case 'update':
      return [
        await of.update(operation.change.id, valuesOf(operation.change) as never, maskOf(operation.change)),
      ]
    case 'batchUpdate':
      return of.batchUpdate(
        operation.changes.map((one) => ({
          key: one.id,
          entity: valuesOf(one) as never,
          fieldMask: maskOf(one),
        })),
      )
    case 'delete':
      await of.delete(operation.ids[0] as string, { force: operation.force })
      return []
    case 'batchDelete':
      await of.batchDelete(operation.ids, { force: operation.force })
      return []
    case 'undelete':
      return [await of.undelete(operation.id)]
    case 'get':
      return [await of.get(operation.id, read)]
    case 'batchGet':
      return of.batchGet(operation.ids, read)
    case 'list':
      return (
        await of.list({ showDeleted: operation.showDeleted, pageSize: 1000, with: read['with'] } as never)
      ).items
    case 'purge':
      await of.purgeExpired(NOW)
      return []
  }
}

const valuesOf = ({ id, title, refs = {}, makerId }: Change): Loose => ({
  id,
  ...(title !== undefined && { title }),
  ...(makerId !== undefined && { makerId }),
  ...Object.fromEntries(Object.entries(refs).map(([name, key]) => [`${name}Id`, key])),
})

/** In the spelling of the message. */
const messageOf = ({ id, title, refs = {}, makerId }: Change): Loose => ({
  id,
  ...(title !== undefined && { title }),
  ...(makerId !== undefined && { maker_id: makerId }),
  ...Object.fromEntries(
    Object.entries(refs)
      .filter(([, key]) => key !== undefined)
      .map(([name, key]) => [`${name}_id`, key]),
  ),
})

const maskOf = ({ title, refs = {}, makerId }: Change): string[] => [
  ...(title === undefined ? [] : ['title']),
  ...(makerId === undefined ? [] : ['maker_id']),
  ...Object.keys(refs).map((name) => `${name}_id`),
]

/** The method and the request of an operation; undefined for what has no method. */
function requestOf(operation: Operation): readonly [method: string, request: Loose] | undefined {
  const { kind } = operation
  const [one, all] = NAMES[kind]
  const mask = kind === 'club' ? {} : { read_mask: { paths: MASKS[kind] } }
  switch (operation.op) {
    case 'create':
      return operation.isExpired
        ? undefined
        : [`Create${one}`, { [kind]: messageOf(operation.change), ...mask }]
    case 'update':
      return [`Update${one}`, { ...updateOf(kind, operation.change), ...(kind === 'fee' && mask) }]
    case 'batchUpdate':
      return [`BatchUpdate${all}`, { requests: operation.changes.map((change) => updateOf(kind, change)) }]
    case 'delete':
      return [`Delete${one}`, { id: operation.ids[0], force: operation.force }]
    case 'batchDelete':
      return [`BatchDelete${all}`, { ids: operation.ids, force: operation.force }]
    case 'undelete':
      return [`Undelete${one}`, { id: operation.id, ...mask }]
    case 'get':
      return [`Get${one}`, { id: operation.id, read_mask: { paths: MASKS[kind] } }]
    case 'batchGet':
      return [`BatchGet${all}`, { ids: operation.ids, read_mask: { paths: MASKS[kind] } }]
    case 'list':
      return [
        `List${all}`,
        { show_deleted: operation.showDeleted, page_size: 1000, read_mask: { paths: MASKS[kind] } },
      ]
    case 'purge':
      return undefined
  }
}

const updateOf = (kind: Kind, change: Change): Loose => ({
  [kind]: messageOf(change),
  update_mask: { paths: maskOf(change) },
})

/** Over gRPC; undefined for what has no method. */
export async function overGrpc(
  clients: Clients,
  token: string,
  operation: Operation,
): Promise<Outcome | undefined> {
  const [method, request] = requestOf(operation) ?? []
  if (method === undefined || request === undefined) return undefined
  const { code, details, answer, trailers } = await clients[operation.kind].unary(method, request, {
    authorization: `Bearer ${token}`,
  })
  const text = JSON.stringify([details, answer, trailers.getMap()])
  return outcomeOf(operation, code, answer ?? {}, text)
}

/** Over HTTP; undefined for what has no route. */
export async function overHttp(
  origin: string,
  token: string,
  operation: Operation,
): Promise<Outcome | undefined> {
  const [, request] = requestOf(operation) ?? []
  if (request === undefined) return undefined
  const { op, kind } = operation
  const headers = { authorization: `Bearer ${token}` }
  const base = `${origin}/v1/${NAMES[kind][1].toLowerCase()}`
  const query = new URLSearchParams({ read_mask: MASKS[kind].join(',') })
  const send = (url: string, init: RequestInit = { headers }) => fetch(url, init)
  const response = await (op === 'get'
    ? send(`${base}/${encodeURIComponent(operation.id)}?${String(query)}`)
    : op === 'list'
      ? send(`${base}?${String(query)}&page_size=1000&show_deleted=${String(operation.showDeleted)}`)
      : op === 'batchGet'
        ? send(
            `${base}:batchGet?${String(query)}&${operation.ids.map((id) => `ids=${encodeURIComponent(id)}`).join('&')}`,
          )
        : op === 'create'
          ? send(
              `${base}${kind === 'club' ? '' : `?${String(query)}`}`,
              post(headers, request[kind] as object),
            )
          : send(`${base}:${op}`, post(headers, inJson(request) as object)))
  const text = await response.text()
  const json = JSON.parse(text) as Loose
  return outcomeOf(operation, response.ok ? 0 : Number(json['code']), response.ok ? json : {}, text)
}

/** In JSON a FieldMask is one text, of names in lower camel case. */
const inJson = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(inJson)
  if (typeof value !== 'object' || value === null) return value
  if ('paths' in value)
    return (value.paths as string[]).join(',').replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inJson(one)]))
}

function outcomeOf(operation: Operation, code: number, answer: Loose, text: string): Outcome {
  const { op, kind } = operation
  if (code !== 0) return { code, rows: [], shows: false, makers: undefined, text }
  const list = NAMES[kind][1].toLowerCase()
  const found =
    op === 'delete' || op === 'batchDelete'
      ? []
      : op === 'list' || op === 'batchGet' || op === 'batchUpdate'
        ? ((answer[list] ?? []) as Loose[])
        : [answer]
  const isShown = op !== 'batchUpdate' && !(op === 'update' && kind === 'member')
  return {
    code,
    shows: isShown,
    rows: found.map((one) => seenIn(kind, one, isShown)),
    makers: isShown && kind === 'member' ? found.map((one) => titleOf(one['maker'])) : undefined,
    text,
  }
}

/** @param isShown - whether what it refers to is read with it. */
function seenIn(kind: Kind, row: Loose, isShown: boolean): Seen {
  const text = (camel: string, snake: string) => {
    const value = row[camel] ?? row[snake]
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const refs = relationsOf(kind).map((name) => [name, text(`${name}Id`, `${name}_id`)])
  const shown = relationsOf(kind).map((name) => [name, isShown ? titleOf(row[name]) : undefined])
  return {
    id: row['id'] as string,
    title: text('title', 'title') ?? '',
    refs: defined(Object.fromEntries(refs) as Refs),
    makerId: text('makerId', 'maker_id') ?? '',
    isDeleted: (row['deleteTime'] ?? row['delete_time'] ?? undefined) !== undefined,
    shown: defined(Object.fromEntries(shown) as Refs),
  }
}

const titleOf = (message: unknown): string | undefined =>
  typeof message === 'object' && message !== null ? ((message as Loose)['title'] as string) : undefined
