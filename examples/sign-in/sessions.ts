import { randomBytes } from 'node:crypto'

/** A person who has signed in. The tokens stay on the server: the browser has a cookie alone. */
export interface Session {
  readonly subject: string
  readonly name: string
  /** When the person has to sign in again, in milliseconds since the epoch. */
  readonly endsAt: number
  readonly accessToken: string
  /** The time at which the access token expires. */
  readonly expiresAt: number
  readonly refreshToken: string | undefined
  readonly idToken: string | undefined
}

/** How long a session lasts after the sign-in. */
export const SESSION_SECONDS = 12 * 60 * 60
const MAX_SESSIONS = 10_000
const MAX_SESSIONS_OF_SUBJECT = 20

/** The sessions in the memory of this process, by the value of their cookie. The oldest comes first. */
export class Sessions {
  readonly #sessions = new Map<string, Session>()

  get(id: string | undefined): Session | undefined {
    const session = id === undefined ? undefined : this.#sessions.get(id)
    return session !== undefined && session.endsAt > Date.now() ? session : undefined
  }

  /** Adds a session and returns its id. A person with too many sessions loses the oldest of their own. */
  add(session: Session): string {
    for (const [id, { endsAt }] of this.#sessions) if (endsAt <= Date.now()) this.#sessions.delete(id)
    const own = [...this.#sessions].filter(([, { subject }]) => subject === session.subject)
    const [oldest] = own.length < MAX_SESSIONS_OF_SUBJECT ? this.#sessions.keys() : own.map(([id]) => id)
    const isFull = own.length >= MAX_SESSIONS_OF_SUBJECT || this.#sessions.size >= MAX_SESSIONS
    if (isFull && oldest !== undefined) this.#sessions.delete(oldest)
    const id = randomBytes(32).toString('base64url')
    this.#sessions.set(id, session)
    return id
  }

  /** Replaces a session, unless it has ended or changed since it was read. */
  replace(id: string, read: Session, by: Session): void {
    if (this.#sessions.get(id) === read) this.#sessions.set(id, by)
  }

  delete(id: string | undefined): void {
    if (id !== undefined) this.#sessions.delete(id)
  }
}
