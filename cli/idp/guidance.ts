import type { Paint } from '../output/paint.js'
import { GUESSABLE } from './clients.js'
import { CLIENTS_FILE, type StarterReport } from './starter.js'
import { PROVIDER, upstreamAt } from './route-provider.js'

/**
 * The steps for setting up a development identity provider. `run` is the user's way to call these commands.
 */
export function guidanceLines(run: string, paint: Paint): readonly string[] {
  return [
    'A development identity provider is a program of its own. These commands give it a host and its clients.',
    'ashlar-idp is one, with a launchpad and an edge: "npx ashlar-idp up" runs them and takes the steps 1 and 2.',
    '',
    `1. Start your provider, listening on ${upstreamAt(PROVIDER.port)}, with ${CLIENTS_FILE} as its clients.`,
    `2. ${paint.bold(`${run} up`)}`,
    `   serves it at https://${PROVIDER.host}/ through the local edge.`,
    `3. ${paint.bold(`${run} clients sync`)}`,
    `   writes ${CLIENTS_FILE}: one client for each app that the edge serves.`,
    '',
    'An app says how it is shown in the tile block of its route:',
    '',
    '  tile:',
    '    displayName: Notes',
    '    description: Everything you wrote down',
    '    iconURL: https://notes.dev.test/icon.svg',
    '    launchURL: https://notes.dev.test/today',
    '',
    'An app is named by its project (metadata.name), else by the first label of its host. Two hosts with the',
    'same first label are refused until one of them has a project.',
    '',
    `${CLIENTS_FILE} is for development alone. ${GUESSABLE}`,
  ]
}

/** The result of `--emit`. */
export function starterLines({ files }: StarterReport, run: string, paint: Paint): readonly string[] {
  const [routes = '', clients = ''] = files.map(({ file }) => file)
  return [
    ...files.map(
      ({ file, state }) => `${(state === 'written' ? paint.good : paint.dim)(state.padEnd(9))}  ${file}`,
    ),
    `${clients} is a sample. ${GUESSABLE}`,
    `Edit ${routes}, then run: ${run} clients sync --config ${routes} --out ${clients}`,
  ]
}
