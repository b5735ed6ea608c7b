import type { Command } from './command.js'

/** Returns the list of all commands. */
export const usageOf = (commands: readonly Command[]): string =>
  [
    'Sign in on your own machine: a development identity provider, an app dashboard, and a local HTTPS proxy (edge).',
    'It has no passwords. Never use it where others can reach it.',
    '',
    ...commands.map(({ name, summary }) => `  ashlar-idp ${name.padEnd(12)} ${summary}`),
    '',
    'Each command has --help.',
  ].join('\n')
