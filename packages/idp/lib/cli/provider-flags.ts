import { DEFAULT_HOST, DEFAULT_PORT, portOf, type ProviderOptions } from '../provider/options.js'
import type { Flag, Values } from './command.js'

/** The flags of a provider. */
export const PROVIDER_FLAGS = {
  port: { summary: 'The port on this machine.', value: 'int', default: String(DEFAULT_PORT) },
  issuer: { summary: 'The issuer, an origin. Default: http://127.0.0.1 and the port.', value: 'url' },
  host: {
    summary: "The provider's host name at the edge.",
    value: 'name',
    default: DEFAULT_HOST,
  },
  clients: {
    summary:
      'The clients file, as "idp clients sync" writes it. A file *.local.yaml beside it is yours and takes precedence.',
    value: 'path',
    default: 'idp-clients.yaml',
  },
  users: { summary: 'The users.', value: 'path', default: 'idp-users.yaml' },
  state: { summary: 'The folder for keys and sessions.', value: 'path', default: '.ashlar-idp' },
} as const satisfies Readonly<Record<string, Flag>>

export const providerOptionsOf = (values: Values): ProviderOptions => ({
  port: portOf(values['port'] ?? '', '--port'),
  ...Object.fromEntries(
    ['issuer', 'host', 'clients', 'users', 'state'].flatMap((name) =>
      values[name] === undefined ? [] : [[name, values[name]]],
    ),
  ),
})
