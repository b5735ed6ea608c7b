import { errors } from 'oidc-provider'
import type { Adapter, AdapterPayload } from 'oidc-provider'
import type { StateFile } from './state-file.js'

/** The source of entries that are not in the store. */
export interface AdapterSources {
  /** The metadata of a client, as of now. */
  readonly client: (id: string) => AdapterPayload | undefined
  /** The access token that a text is, if this provider has signed it and remembers it. */
  readonly accessToken: (text: string) => Promise<AdapterPayload | undefined>
}

const VISIT = 'Visit'
/** Names of sessions that have ended. A request that read one before its end would save it again. */
const ENDED = 'Ended'
const ENDED_SECONDS = 60

/** Kinds whose entries belong to a grant, and go with it. */
export const OF_GRANT = ['AccessToken', 'AuthorizationCode', 'RefreshToken', 'DeviceCode'] as const

/** The adapter of oidc-provider for one kind of entry. */
export const adapterOf =
  ({ store, written }: StateFile, now: () => number, sources: AdapterSources) =>
  (kind: string): Adapter => ({
    async upsert(id, payload, expiresIn) {
      if (kind === 'Session' && store.get(ENDED, id) !== undefined) return
      // A visitor who has not signed in must not push out the sessions of those who have.
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
     * The library looks whether a code is used before it gets here; of requests at the same time all would
     * see that it is not.
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

/** Ends a grant and all that came of it. */
export function endGrant({ store }: Pick<StateFile, 'store'>, grantId: string): void {
  for (const kind of OF_GRANT) store.deleteOfGrant(kind, grantId)
  store.delete('Grant', grantId)
}

/** Ends a session, also for requests that have read it before. */
export function endSession({ store }: Pick<StateFile, 'store'>, id: string, now: number): void {
  store.delete('Session', id)
  store.delete(VISIT, id)
  store.set(ENDED, id, {}, now + ENDED_SECONDS)
}

const LONGEST_SECONDS = 14 * 24 * 60 * 60
