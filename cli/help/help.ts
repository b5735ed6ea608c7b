import { type Command, Help, type Interfaces } from '@oclif/core'
import { FIRST_STEPS, GROUPS, ROOT_GROUPS } from './groups.js'
import { EXIT_CODES, EXIT_MEANINGS, type Exit } from '../errors/exit-codes.js'

/**
 * oclif's help with examples on every level and the exit statuses. A topic shows the first example of each
 * command. The commands of a large topic are grouped.
 */
export class ExampledHelp extends Help {
  override formatRoot(): string {
    if (this.config.bin !== 'ashlar') return this.withExamples(super.formatRoot(), this.config.commands)
    const { commands, topics, bin, pjson } = this.config
    const summaryOf = (name: string): string => {
      const command = commands.find(({ id }) => id === name)
      const topic = topics.find((one) => one.name === name)
      return (command === undefined ? topic?.description : this.summary(command)) ?? ''
    }
    const text = [
      pjson.oclif.description ?? '',
      this.section('USAGE', `$ ${bin} COMMAND, or ${bin} COMMAND --help`),
      ...this.grouped(ROOT_GROUPS, (name) => [[name, summaryOf(name)]]),
    ]
    const first = FIRST_STEPS.flatMap((step) => commands.filter(({ id }) => id === step))
    return `${this.withExamples(text.join('\n\n'), first)}\n`
  }

  /** Prints the groups of `ashlar`, which contain its topics and commands. */
  protected override async showRootHelp(): Promise<void> {
    if (this.config.bin !== 'ashlar') return super.showRootHelp()
    this.log(this.formatRoot())
  }

  protected override formatTopic(topic: Interfaces.Topic): string {
    const below = this.config.commands.filter(({ id }) => id.startsWith(`${topic.name}:`))
    return `${this.withExamples(super.formatTopic(topic), below)}\n`
  }

  protected override formatCommand(command: Command.Loadable): string {
    const rows = exitMeanings(command, this.config.bin).map(([exit, meaning]): [string, string] => [
      String(EXIT_CODES[exit]),
      meaning.replaceAll('`', ''),
    ])
    const statuses = this.renderList(rows, { indentation: 2, spacer: '\n' })
    return `${super.formatCommand(command)}\n\n${this.section('EXIT STATUS', statuses)}`
  }

  protected override formatCommands(commands: Command.Loadable[]): string {
    const groups = GROUPS[topicOf(commands[0])]
    if (groups === undefined) return super.formatCommands(commands)
    return this.grouped(groups, (name) =>
      commands
        .filter(({ id }) => id.split(':').at(-1) === name)
        .map((one) => [one.id.replaceAll(':', ' '), this.summary(one) ?? '']),
    ).join('\n\n')
  }

  private grouped(
    groups: Readonly<Record<string, readonly string[]>>,
    rowsOf: (name: string) => [string, string][],
  ): readonly string[] {
    const options = { indentation: 2, spacer: '\n', stripAnsi: this.opts.stripAnsi ?? false }
    return Object.entries(groups).map(([group, names]) =>
      this.section(group.toUpperCase(), this.renderList(names.flatMap(rowsOf), options)),
    )
  }

  private withExamples(text: string, commands: readonly Command.Loadable[]): string {
    const examples = commands.flatMap((command) => firstExample(command, this.config))
    if (examples.length === 0) return text
    const lines = examples.map((line) => `$ ${line}`).join('\n')
    return `${text.trimEnd()}\n\n${this.section('EXAMPLES', lines)}`
  }
}

/** Returns the topic of a command: `migrate` for `migrate:up`. */
const topicOf = (command: Command.Loadable | undefined): string =>
  command?.id.split(':').slice(0, -1).join(':') ?? ''

/** Returns the exit statuses of a command. */
function exitMeanings(command: Command.Loadable, bin: string): [Exit, string][] {
  const { differs } = command as { readonly differs?: string }
  const isOfDaemon = bin === 'idp' || command.id.startsWith('idp')
  const has: Readonly<Partial<Record<Exit, boolean>>> = {
    differs: differs !== undefined,
    daemon: isOfDaemon,
    conflict: isOfDaemon,
    database: command.flags.url !== undefined,
  }
  const meanings = { ...EXIT_MEANINGS, ...(differs !== undefined && { differs }) }
  return (Object.entries(meanings) as [Exit, string][]).filter(([exit]) => has[exit] !== false)
}

function firstExample(
  { id, examples, hidden }: Command.Loadable,
  config: Interfaces.Config,
): readonly string[] {
  const [first] = examples ?? []
  if (first === undefined || hidden === true) return []
  return [exampleText(first, { bin: config.bin, id })]
}

/** Returns an example with the program and the command in place of their placeholders. */
export function exampleText(example: Command.Example, { bin, id }: { bin: string; id: string }): string {
  const template = typeof example === 'string' ? example : example.command
  return template
    .replaceAll('<%= config.bin %>', bin)
    .replaceAll('<%= command.id %>', id.replaceAll(':', ' '))
}
