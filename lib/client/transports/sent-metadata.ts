import { Metadata } from '../../call.js'

/**
 * The metadata of a call, or a function that returns it for each attempt, for example with a token that
 * expires.
 */
export type ClientMetadata =
  | Readonly<Record<string, string>>
  | (() => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>)

/** Matches names that the protocols reserve. */
const RESERVED =
  /^(:.*|grpc-.*|connect-.*|host|te|connection|content-(type|length|encoding)|transfer-encoding|upgrade|proxy-.*)$/
const NAME = /^[0-9a-z_.-]+$/
const BASE64 = /^[0-9A-Za-z+/]*={0,2}$/

/**
 * Adds metadata.
 * @throws TypeError for a name or value that cannot be sent.
 */
export async function addMetadata(target: Metadata, from: ClientMetadata | undefined): Promise<void> {
  const values = typeof from === 'function' ? await from() : from
  for (const [key, value] of Object.entries(values ?? {})) {
    const name = key.toLowerCase()
    if (RESERVED.test(name)) throw new TypeError(`metadata: the protocol sets ${name} itself`)
    if (!NAME.test(name))
      throw new TypeError(
        `metadata: the name ${JSON.stringify(key)} contains characters other than a-z, 0-9, _, . and -`,
      )
    if (typeof value !== 'string') throw new TypeError(`metadata: the value of ${name} is not a string`)
    if (name.endsWith('-bin') ? !BASE64.test(value) : !/^[ -~]*$/.test(value))
      throw new TypeError(
        name.endsWith('-bin')
          ? `metadata: the value of ${name} is not base64`
          : `metadata: the value of ${name} contains characters other than printable ASCII`,
      )
    target.set(name, value)
  }
}
