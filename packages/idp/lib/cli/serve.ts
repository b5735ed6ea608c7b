import { oneLine } from '../printed.js'
import { startProvider, type RunningProvider } from '../provider/start-provider.js'
import type { Values } from './command.js'
import { containerNote } from './in-container.js'
import { providerOptionsOf } from './provider-flags.js'
import { untilEnded } from './until-ended.js'

/** Runs `ashlar-idp serve`. */
export async function serve(values: Values): Promise<void> {
  const provider = await startProvider(providerOptionsOf(values))
  for (const line of linesOf(provider)) console.log(line)
  untilEnded(provider.close)
}

/** Returns the lines to print at startup. */
export function linesOf({ issuer, written, problems }: RunningProvider): readonly string[] {
  const note = containerNote()
  return [
    ...written.map((file) => `Written: ${file}, to start from.`),
    ...problems().map((problem) => oneLine(`Note: ${problem}`)),
    ...(note === undefined ? [] : [`Note: ${note}`]),
    `Launchpad and issuer: ${issuer}`,
    'For development only: there are no passwords.',
  ]
}
