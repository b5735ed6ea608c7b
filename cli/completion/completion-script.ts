import type { Interfaces } from '@oclif/core'
import { bashCompletion, zshCompletion } from './bash-completion.js'
import { completionTree } from './completion-tree.js'
import { fishCompletion } from './fish-completion.js'

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const

/** Returns the completion script of `ashlar`, or of `idp`, which has only the commands of that topic. */
export function completionScript(
  shell: keyof typeof SCRIPTS,
  { commands, topics }: Pick<Interfaces.Config, 'commands' | 'topics'>,
): string {
  const summaries = Object.fromEntries(topics.map(({ name, description = '' }) => [name, description]))
  const ofIdp = commands
    .filter(({ id }) => id.startsWith('idp:'))
    .map((command) => ({ ...command, id: command.id.slice('idp:'.length) }))
  const idpSummaries = Object.fromEntries(
    Object.entries(summaries).map(([name, summary]) => [name.replace(/^idp:/, ''), summary]),
  )
  return SCRIPTS[shell](
    ['ashlar', 'idp'],
    [...completionTree('ashlar', commands, summaries), ...completionTree('idp', ofIdp, idpSummaries)],
  )
}
