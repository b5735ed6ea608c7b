import { callControl } from '../control/call-control.js'
import { controlSocketOf } from '../control/control-address.js'
import type { Values } from './command.js'

/** Runs `ashlar-idp rotate`. */
export async function rotate({ state = '' }: Values): Promise<void> {
  const { kids } = await callControl<{ kids: readonly string[] }>(controlSocketOf(state), '/rotate', {})
  console.log(`${kids[0]} signs now. ${kids.length} keys are published.`)
}
