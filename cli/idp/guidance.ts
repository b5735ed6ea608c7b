import type { Paint } from '../output/paint.js'
import { GUESSABLE } from './clients.js'
import { CLIENTS_FILE, type StarterReport } from './starter.js'
import { PROVIDER, upstreamAt } from './route-provider.js'

/** Returns the steps for setting up a development identity provider. `run` is the prefix of the commands. */
export function guidanceLines(run: string, paint: Paint): readonly string[] {
  return [
    'A development identity provider is a separate program. These commands give it a host and its clients.',
    'ashlar-idp is such a provider, with an app dashboard and a local HTTPS proxy: "npx ashlar-idp up" runs them and does steps 1 and 2.',
    '',
    `1. Start your provider, listening on ${upstreamAt(PROVIDER.port)}, with ${CLIENTS_FILE} as its clients.`,
    `2. ${paint.bold(`${run} up`)}`,
    `   serves it at https://${PROVIDER.host}/ through the local HTTPS proxy.`,
    `3. ${paint.bold(`${run} clients sync`)}`,
    `   writes ${CLIENTS_FILE}: one client for each app behind the proxy.`,
    '',
    'The tile block of a route describes how the app is shown:',
    '',
    '  tile:',
    '    displayName: Notes',
    '    description: Everything you wrote down',
    '    iconURL: https://notes.dev.test/icon.svg',
    '    launchURL: https://notes.dev.test/today',
    '',
    'An app is named by its project (metadata.name), otherwise by the first label of its host. Two hosts with',
    'the same first label are rejected until one of them has a project.',
    '',
    `${CLIENTS_FILE} is for development only. ${GUESSABLE}`,
  ]
}

/** Formats the result of `--emit`. */
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
