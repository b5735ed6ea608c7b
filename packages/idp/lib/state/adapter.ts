import { errors } from 'oidc-provider'
import type { Adapter, AdapterPayload } from 'oidc-provider'
import type { StateFile } from './state-file.js'

/** Looks up entries that are not in the store. */
export interface AdapterSources {
  /** Returns the current metadata of a client. */
  readonly client: (id: string) => AdapterPayload | undefined
  /** Returns the entry of an access token if this provider has signed and stored it. */
  readonly accessToken: (text: string) => Promise<AdapterPayload | undefined>
}

const VISIT = 'Visit'
/**
 * The kind of entry for ended sessions. A request that has read a session before it ended would otherwise
 * save it again.
 */
const ENDED = 'Ended'
const ENDED_SECONDS = 60

/** The kinds of entries that belong to a grant and are deleted with it. */
export const OF_GRANT = ['AccessToken', 'AuthorizationCode', 'RefreshToken', 'DeviceCode'] as const

/** Returns the adapter of oidc-provider for one kind of entry. */
export const adapterOf =
  ({ store, written }: StateFile, now: () => number, sources: AdapterSources) =>
  (kind: string): Adapter => ({
    async upsert(id, payload, expiresIn) {
      if (kind === 'Session' && store.get(ENDED, id) !== undefined) return
      // A visitor who has not signed in must not displace the sessions of users who have.
      const isVisit = kind === 'Session' && payload.accountId === undefined
      store.delete(isVisit ? kind : VISIT, id)
      store.set(isVisit ? VISIT : kind, id, payload, now() + (expiresIn || LONGEST_SECONDS))
      await written()
    },
    async find(id) {
      if (kind === 'Client') return sources.client(id)
      if (kind === 'AccessToken') return sources.accessToken(id)
      const found = store.get(kind, id) ?? (kind === 'Session' ? store.get(VISIT, id) : undefined)
      return found as AdapterPayload | undefined
    },
    async findByUid(uid) {
      return store.byAlias(kind, uid) as AdapterPayload | undefined
    },
    async findByUserCode(userCode) {
      return store.byAlias(kind, userCode) as AdapterPayload | undefined
    },
    async destroy(id) {
      if (kind === 'Session') endSession({ store }, id, now())
      else store.delete(kind, id)
      await written()
    },
    async revokeByGrantId(grantId) {
      store.deleteOfGrant(kind, grantId)
      await written()
    },
    /**
     * Marks a code as used. The library has already checked it, but concurrent requests would all find it
     * unused, so it is checked again here.
     */
    async consume(id) {
      const payload = store.get(kind, id)
      if (payload === undefined) throw new errors.InvalidGrant('it is no longer known')
      if (payload['consumed'] !== undefined) {
        endGrant({ store }, String(payload['grantId']))
        await written()
        throw new errors.InvalidGrant('it was already used')
      }
      store.set(kind, id, { ...payload, consumed: now() }, Number(payload['exp'] ?? now() + LONGEST_SECONDS))
      await written()
    },
  })

/** Ends a grant and all its tokens and codes. */
export function endGrant({ store }: Pick<StateFile, 'store'>, grantId: string): void {
  for (const kind of OF_GRANT) store.deleteOfGrant(kind, grantId)
  store.delete('Grant', grantId)
}

/** Ends a session, also for requests that have already read it. */
export function endSession({ store }: Pick<StateFile, 'store'>, id: string, now: number): void {
  store.delete('Session', id)
  store.delete(VISIT, id)
  store.set(ENDED, id, {}, now + ENDED_SECONDS)
}

const LONGEST_SECONDS = 14 * 24 * 60 * 60
