import { endGrant, endSession } from '../state/adapter.js'
import type { LiveFile } from '../files/live-file.js'
import type { StateFile } from '../state/state-file.js'
import type { Users } from '../users/users-file.js'

/** Ends the sessions and grants of users who are no longer in the file. */
export class Removals {
  #known: Users | undefined

  constructor(
    private readonly state: StateFile,
    private readonly users: LiveFile<Users>,
    private readonly now: () => number,
  ) {}

  /**
   * Compares the users with the previous ones. The first time, compares them with everything in the store.
   */
  end(): void {
    const { value: users, isKnown } = this.users.read()
    if (users === this.#known || !isKnown) return
    this.#known = users
    const { store } = this.state
    const isGone = (sub: unknown): boolean => typeof sub === 'string' && !users.has(sub)
    const grants = new Set<string>()
    const sessions: string[] = []
    store.deleteWhere((payload, kind) => {
      const gone = isGone(payload['accountId'])
      if (gone && typeof payload['grantId'] === 'string') grants.add(payload['grantId'])
      if (gone && kind === 'Session') sessions.push(String(payload['jti']))
      return gone
    })
    for (const grantId of grants) endGrant(this.state, grantId)
    for (const id of sessions) endSession(this.state, id, this.now())
  }
}
