import { callControl } from '../control/call-control.js'
import { controlSocketOf } from '../control/control-address.js'
import { Failure } from '../idp-failure.js'
import type { IssuedToken } from '../provider/issue-token.js'
import type { Values } from './command.js'

/** Runs `ashlar-idp token`. */
export async function token({ user, client, scope, state = '', json }: Values): Promise<void> {
  if (user === undefined) throw new Failure('--user is missing: name the sub of a user, such as --user alice')
  if (client === undefined) throw new Failure('--client is missing: name a client_id, such as --client app')
  const issued = await callControl<IssuedToken>(controlSocketOf(state), '/token', { user, client, scope })
  console.log(json === 'true' ? JSON.stringify(issued) : issued.access_token)
}
