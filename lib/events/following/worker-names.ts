import type { OutboxOwner } from '../store/outbox-store.js'

/** The name under which a worker follows a database. */
export interface WorkerIdentity {
  readonly owner: OutboxOwner
  readonly kind: 'consumer' | 'relay'
  readonly name: string
  /** The subject of the worker, such as `booking.created`, to distinguish workers of the same name. */
  readonly follows: string
}

/** The workers that run in this process, by kind and name. */
const running = new WeakMap<OutboxOwner, Map<string, WorkerIdentity>>()

const known = new WeakMap<object, WorkerIdentity>()

/** Registers a worker for {@link nameProblems} before it runs. */
export const introduce = <W extends object>(worker: W, identity: WorkerIdentity): W => {
  known.set(worker, identity)
  return worker
}

/**
 * Returns why a worker cannot run together with the others in its process. The second worker of a name would
 * wait for the first to end, and its events would count as done.
 *
 * @param workers - the workers that start together, in order.
 */
export function nameProblems(identity: WorkerIdentity, workers: readonly object[] = []): readonly string[] {
  const together = workers.map((worker) => known.get(worker)).filter((one) => one !== undefined)
  const earlier = together.slice(0, Math.max(0, together.indexOf(identity)))
  const runs = running.get(identity.owner)?.get(keyOf(identity))
  const other = [...(runs === undefined ? [] : [runs]), ...earlier].find(
    (one) => one !== identity && one.owner === identity.owner && keyOf(one) === keyOf(identity),
  )
  if (other === undefined) return []
  const { kind, name, follows } = identity
  return [
    `two ${kind}s of this process are named "${name}", one for ${other.follows} and one for ${follows}: ` +
      'only one of them would receive events. Give each its own name',
  ]
}

/** Registers a worker as running. */
export function claimName(identity: WorkerIdentity): void {
  const names = running.get(identity.owner) ?? new Map<string, WorkerIdentity>()
  running.set(identity.owner, names.set(keyOf(identity), identity))
}

/** Lets another worker in this process use the name. */
export function releaseName(identity: WorkerIdentity): void {
  const names = running.get(identity.owner)
  if (names?.get(keyOf(identity)) === identity) names.delete(keyOf(identity))
}

/** Forgets the used names of a database, for tests in which one process simulates several. */
export const forgetNames = (owner: OutboxOwner): void => void running.delete(owner)

/**
 * Returns the key of a worker's name. A consumer of a stream and a consumer of an outbox with the same name
 * share their record of handled events.
 */
const keyOf = ({ kind, name }: WorkerIdentity): string => `${kind}:${name}`
