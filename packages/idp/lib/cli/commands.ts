import { type Command, commandOf } from './command.js'
import { PROVIDER_FLAGS } from './provider-flags.js'

/** All commands in the order of the help. Each loads its modules when it runs. */
export const COMMANDS: readonly Command[] = [
  commandOf({
    name: 'up',
    summary: 'Run the provider, and serve it at its host through the local HTTPS proxy.',
    flags: PROVIDER_FLAGS,
    run: async (values) => (await import('./up.js')).up(values),
  }),
  commandOf({
    name: 'serve',
    summary: 'Run the identity provider and its app dashboard on this machine.',
    flags: PROVIDER_FLAGS,
    run: async (values) => (await import('./serve.js')).serve(values),
  }),
  commandOf({
    name: 'token',
    summary: 'Print an access token, for curl, tests and scripts.',
    flags: {
      user: { summary: 'The sub of the user.', value: 'sub' },
      client: { summary: 'The client_id, which is the audience of the token.', value: 'id' },
      scope: {
        summary: 'The scopes, separated by spaces. Default: openid and the scopes of the user.',
        value: 'list',
      },
      state: PROVIDER_FLAGS.state,
      json: { summary: 'Print the whole response.' },
    },
    run: async (values) => (await import('./token.js')).token(values),
  }),
  commandOf({
    name: 'rotate',
    summary: "Sign with the running provider's next key, and publish another one.",
    flags: { state: PROVIDER_FLAGS.state },
    run: async (values) => (await import('./rotate.js')).rotate(values),
  }),
  commandOf({
    name: 'edge',
    summary: 'Serve the apps of this machine at their hosts over https.',
    flags: {
      port: { summary: 'The port for https. Default: 443 if permitted, otherwise 8443.', value: 'int' },
    },
    run: async (values) => (await import('./edge.js')).edge(values),
  }),
  commandOf({
    name: 'edge trust',
    summary: "Print how to trust the edge's certificates.",
    flags: {},
    run: async () => (await import('./edge-trust.js')).edgeTrust(),
  }),
  commandOf({
    name: 'edge status',
    summary: "Print the edge's routes.",
    flags: {},
    run: async () => (await import('./edge-status.js')).edgeStatus(),
  }),
]
