import type { Command, Interfaces } from '@oclif/core'
import { EXIT_CODES, EXIT_MEANINGS, type Exit } from '../errors/exit-codes.js'
import { exampleText } from './help.js'

const ENVIRONMENT: readonly (readonly [string, string])[] = [
  [
    'DEVEDGE_HOME',
    "The folder of the local HTTPS proxy's daemon, which contains the socket `devedged.sock`. Default `~/.devedge`.",
  ],
  [
    'DEVEDGE_ADDR',
    "The daemon's TCP address, which is used if its socket does not respond. Default `127.0.0.1:15353`.",
  ],
  [
    'ASHLAR_DATABASE_URL',
    'The database URL for `check`, `generate from-database`, and the `migrate` and `outbox` commands, if `--url` is not passed.',
  ],
  ['ASHLAR_NATS_URL', 'The NATS servers for `outbox relay`, if `--nats` is not passed.'],
  [
    'ASHLAR_LISTEN_URL',
    'The URL of the PostgreSQL session in which `outbox relay` listens, if `--listen-url` is not passed.',
  ],
  [
    'NO_COLOR',
    'Turns colors off if it is set and not empty. Output that does not go to a terminal has no colors.',
  ],
  ['ASHLAR_DEBUG', '`1` prints the stack of an unexpected error.'],
]

/** The reference of every command as Markdown, generated from the command classes. */
export function referencePage({ commands, topics, bin }: Interfaces.Config): string {
  const visible = commands.filter(({ hidden }) => hidden !== true)
  visible.sort((a, b) => (a.id < b.id ? -1 : 1))
  const intro = `# Command line

This page is generated from the commands by \`node dist/cli/help/reference.js\`; \`npm run check\` rejects an outdated page.
\`ashlar <command> --help\` (or \`-h\`) prints the same in a terminal, and \`ashlar completion\` adds shell completion. The
\`idp\` program runs the \`ashlar idp\` commands: \`idp up\` is \`ashlar idp up\`.

Results go to stdout, everything else to stderr. With \`--json\`, a result is printed as one JSON value, and a failure as
\`{"error": {"message", "exit"}}\`; progress and notes stay on stderr as text.
[Migrations](migrate-output.md#what-a-command-prints) describes the output of the \`migrate\` commands.

A project's package.json can set options for several commands. Paths are relative to its folder, and flags take
precedence. \`ashlar new\` writes these options; \`migrate new\` reads \`entities\` only from its flag:

\`\`\`json
{
  "ashlar": {
    "entities": "dist/src/entities.js",
    "files": "migrations",
    "module": "shop",
    "server": "dist/src/server.js"
  }
}
\`\`\``
  const common = commonFlags(visible)
  const sections = [
    intro,
    `## Exit status\n\n${Object.entries(EXIT_CODES)
      .map(([exit, code]) => `- \`${code}\`: ${EXIT_MEANINGS[exit as Exit]}`)
      .join('\n')}`,
    `## Environment\n\n${ENVIRONMENT.map(([name, meaning]) => `- \`${name}\`: ${meaning}`).join('\n')}`,
    `## Commands\n\n${visible.map((command) => `- [${spoken(command.id, bin)}](#${anchor(command.id, bin)})`).join('\n')}`,
    `## Common flags\n\nSeveral commands accept these flags. Each command lists the common flags that it accepts.\n\n${[...common].join('\n')}`,
    ...visible.map((command) => commandSection(command, { bin, topics, common })),
  ]
  return `${sections.join('\n\n')}\n`
}

const spoken = (id: string, bin: string): string => `${bin} ${id.replaceAll(':', ' ')}`

const anchor = (id: string, bin: string): string => spoken(id, bin).replaceAll(' ', '-')

interface Page {
  readonly bin: string
  readonly topics: readonly Interfaces.Topic[]
  /** The lines of flags that are described once for all commands. */
  readonly common: ReadonlySet<string>
}

const shownFlags = ({ flags }: Command.Loadable): readonly Command.Flag.Cached[] =>
  Object.values(flags).filter(({ hidden }) => hidden !== true)

/** Returns the flags that several commands describe identically, sorted by name. */
function commonFlags(commands: readonly Command.Loadable[]): ReadonlySet<string> {
  const flags = commands.flatMap(shownFlags)
  const uses = (line: string) => flags.filter((flag) => flagLine(flag) === line).length
  const names = [...new Set(flags.map(({ name }) => name))].sort()
  const lines = names.map((name) => {
    const same = flags.filter((flag) => flag.name === name).map(flagLine)
    return same.reduce((most, line) => (uses(line) > uses(most) ? line : most))
  })
  return new Set(lines.filter((line) => uses(line) >= COMMON))
}

/** The minimum number of commands that must share a flag for it to be described only once. */
const COMMON = 3

function commandSection(command: Command.Loadable, { bin, topics, common }: Page): string {
  const { id, summary, description, args, examples } = command
  const { differs } = command as { readonly differs?: string }
  const shown = shownFlags(command)
  const shared = shown.filter((flag) => common.has(flagLine(flag)))
  const topic = topics.find(({ name }) => name === id.split(':').slice(0, -1).join(':'))
  return [
    `## ${spoken(id, bin)}`,
    ...(topic?.description === undefined ? [] : [`_${topic.description}_`]),
    summary ?? '',
    description ?? '',
    ...list('Arguments:', Object.values(args), argumentLine),
    ...list(
      'Flags:',
      shown.filter((flag) => !common.has(flagLine(flag))),
      flagLine,
    ),
    shared.length === 0
      ? ''
      : `[Common flags](#common-flags): ${shared.map(({ name }) => `\`--${name}\``).join(', ')}`,
    differs === undefined ? '' : `Exit status 1: ${differs}`,
    `\`\`\`sh\n${(examples ?? []).map((example) => exampleText(example, { bin, id })).join('\n')}\n\`\`\``,
  ]
    .filter((paragraph) => paragraph !== '')
    .join('\n\n')
}

function list<T>(title: string, items: readonly T[], line: (item: T) => string): readonly string[] {
  return items.length === 0 ? [] : [title, items.map(line).join('\n')]
}

function argumentLine({ name, description = '', options, required }: Command.Arg.Cached): string {
  return `- \`${name}\`: ${description}${oneOf(options)}${required === true ? '' : ' Optional.'}`
}

function flagLine(flag: Command.Flag.Cached): string {
  const value = flag.type === 'boolean' ? '' : ` ${flag.helpValue?.toString() ?? '<value>'}`
  const text = [flag.summary, flag.description].filter((part) => part !== undefined).join(' ')
  const preset =
    flag.type === 'boolean' || flag.default === undefined || String(flag.default) === ''
      ? ''
      : ` Default \`${String(flag.default)}\`.`
  const name = flag.type === 'boolean' && flag.allowNo === true ? `[no-]${flag.name}` : flag.name
  return `- \`--${name}${value}\`: ${text}${oneOf(flag.type === 'option' ? flag.options : undefined)}${preset}`
}

const oneOf = (options: readonly string[] | undefined): string =>
  options === undefined ? '' : ` One of ${options.map((option) => `\`${option}\``).join(', ')}.`
