import type { DescMethod } from '@bufbuild/protobuf'
import { type Duration, type Empty, EmptySchema } from '@bufbuild/protobuf/wkt'
import { create } from '@bufbuild/protobuf'
import { ErrNotFound, InvalidArgument, PermissionDenied } from '../../errors.js'
import { pageSizeOf } from '../../persistence/query/page-size.js'
import { Operations } from 'ashlar-annotations/google/longrunning/operations_pb.js'
import type { ServerCall } from '../../call.js'
import type { Implementation } from '../chain/handler.js'
import { toOperation } from './operation-message.js'
import { isOwned, ownedPrefix } from './operation-names.js'
import type { OperationRunner } from './operation-runner.js'
import type { Rule } from '../authz/rules.js'
import type { OperationRecord, OperationStore } from './operation-store.js'

const LONGEST_PAUSE_MS = 1_000
/** The part of a call's deadline that is reserved for sending the response, in milliseconds. */
const RESERVE_MS = 100

const VERBS: Readonly<Record<string, string>> = {
  GetOperation: 'get',
  ListOperations: 'list',
  DeleteOperation: 'delete',
  CancelOperation: 'update',
  WaitOperation: 'get',
}

/** The rules of the operations service: a grant of the verb on the resource `operation` is required. */
export const operationRules: readonly Rule[] = Operations.methods.map(({ name }) => ({
  method: `/${Operations.typeName}/${name}`,
  verb: VERBS[name] ?? '',
  resource: 'operation',
}))

/** Returns true if the method starts operations. */
export const startsOperations = ({ output }: DescMethod): boolean =>
  output.typeName === 'google.longrunning.Operation'

/**
 * Implements `google.longrunning.Operations` with a store. Operations of another tenant or owner appear not
 * to exist.
 */
export const operationsService = (
  store: OperationStore,
  runner: OperationRunner,
): Implementation<typeof Operations> => {
  const found = async (call: ServerCall, name: string): Promise<OperationRecord> => {
    const record = await store.find(reached(call, name), name)
    if (record === undefined) throw new ErrNotFound()
    return record
  }
  /** Returns the tenant's operations, followed by the principal's. */
  const listed = async (call: ServerCall, after: string, limit: number) => {
    const tenant = tenantOf(call)
    if (!isInReach(call, after)) throw foreignToken()
    const { principal } = call
    const ofTenant = isOwned(after) ? [] : upTo(await store.list(tenant, after, limit), isOwned)
    const left = limit - ofTenant.length
    if (left === 0 || principal.subject === '') return ofTenant
    const own = ownedPrefix(principal)
    const behind = await store.list(tenant, isOwned(after) ? after : own, left)
    return [...ofTenant, ...upTo(behind, (name) => !name.startsWith(own))]
  }
  return {
    getOperation: async ({ name }, call) => toOperation(await found(call, name)),

    listOperations: async ({ pageSize, pageToken, filter }, call) => {
      if (filter.trim() !== '') throw new InvalidArgument('filter', 'operations cannot be filtered')
      const limit = pageSizeOf(pageSize)
      const records = await listed(call, fromToken(pageToken), limit + 1)
      const page = records.slice(0, limit)
      const last = records.length > limit ? page.at(-1) : undefined
      return {
        operations: page.map(toOperation),
        nextPageToken: last === undefined ? '' : toToken(last.name),
      }
    },

    deleteOperation: async ({ name }, call): Promise<Empty> => {
      if (!(await store.remove(reached(call, name), name))) throw new ErrNotFound()
      return create(EmptySchema)
    },

    cancelOperation: async ({ name }, call): Promise<Empty> => {
      if (!(await store.requestCancel(reached(call, name), name))) throw new ErrNotFound()
      runner.cancel(name)
      return create(EmptySchema)
    },

    waitOperation: async ({ name, timeout }, call) => {
      const until = Math.min(
        Date.now() + msOf(timeout),
        (call.deadline ?? Number.POSITIVE_INFINITY) - RESERVE_MS,
      )
      for (let pauseMs = 25; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
        const record = await found(call, name)
        const left = until - Date.now()
        if (record.status !== 'pending' || left <= 0 || call.signal.aborted) return toOperation(record)
        await firstOf(runner.settled(name), Math.min(pauseMs, left), call.signal)
      }
    },
  }
}

const tenantOf = ({ principal }: ServerCall): string => {
  if (principal.tenant === '' || principal.tenant.includes('\0'))
    throw new PermissionDenied('the call has no tenant, but operations belong to one')
  return principal.tenant
}

const isInReach = ({ principal }: ServerCall, name: string): boolean =>
  !isOwned(name) || (principal.subject !== '' && name.startsWith(ownedPrefix(principal)))

/**
 * Returns the call's tenant.
 * @throws ErrNotFound for an operation of another principal.
 */
const reached = (call: ServerCall, name: string): string => {
  const tenant = tenantOf(call)
  if (!isInReach(call, name)) throw new ErrNotFound()
  return tenant
}

/** Returns the records before the first one whose name fulfils the condition. */
const upTo = (
  records: readonly OperationRecord[],
  isBehind: (name: string) => boolean,
): readonly OperationRecord[] => {
  const end = records.findIndex(({ name }) => isBehind(name))
  return end === -1 ? records : records.slice(0, end)
}

const msOf = (timeout: Duration | undefined): number =>
  timeout === undefined ? Number.POSITIVE_INFINITY : Number(timeout.seconds) * 1000 + timeout.nanos / 1e6

const toToken = (name: string): string => Buffer.from(name).toString('base64url')

const fromToken = (token: string): string => {
  const name = Buffer.from(token, 'base64url').toString()
  if (token !== '' && (!/^operations\/[^\0]*$/.test(name) || toToken(name) !== token)) throw foreignToken()
  return name
}

const foreignToken = () => new InvalidArgument('page_token', 'is not a token that a list returned')

/** Waits until the work has ended, the timeout is over or the client disconnects. */
const firstOf = async (
  settled: Promise<void> | undefined,
  pauseMs: number,
  signal: AbortSignal,
): Promise<void> => {
  let done: () => void = () => {}
  const paused = new Promise<void>((resolve) => (done = resolve))
  const timer = setTimeout(done, pauseMs)
  signal.addEventListener('abort', done, { once: true })
  await Promise.race([paused, ...(settled === undefined ? [] : [settled])])
  clearTimeout(timer)
  signal.removeEventListener('abort', done)
}
