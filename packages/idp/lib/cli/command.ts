import { parseArgs } from 'node:util'

/** A flag of a command, with a value or as a switch. Its environment variable is `ASHLAR_IDP_<NAME>`. */
export interface Flag {
  readonly summary: string
  readonly value?: string
  readonly default?: string
}

export interface Command {
  readonly name: string
  readonly summary: string
  readonly flags: Readonly<Record<string, Flag>>
  /** Resolves when the command has started its servers, which continue to run. */
  readonly run: (args: readonly string[]) => Promise<void>
}

export type Values = Readonly<Record<string, string | undefined>>

/**
 * Returns a command that reads its flags from the command line and then from the environment. `--help` prints
 * them.
 */
export const commandOf = ({
  run,
  ...about
}: Omit<Command, 'run'> & { readonly run: (values: Values) => Promise<void> }): Command => ({
  ...about,
  run: async (args) => {
    const options = Object.fromEntries(
      Object.entries(about.flags).map(([name, { value }]) => [
        name,
        { type: value === undefined ? ('boolean' as const) : ('string' as const) },
      ]),
    )
    const { values }: { values: Readonly<Record<string, unknown>> } = parseArgs({
      args: [...args],
      options: { ...options, help: { type: 'boolean', short: 'h' } },
    })
    if (values['help'] === true) return console.log(helpOf(about))
    const given = Object.entries(about.flags).map(([name, { default: fallback }]) => {
      const variable = process.env[variableOf(name)]
      const value = values[name] ?? (variable === '' ? undefined : variable) ?? fallback
      return [name, value === undefined ? undefined : String(value as string | boolean)] as const
    })
    await run(Object.fromEntries(given))
  },
})

export const variableOf = (flag: string): string => `ASHLAR_IDP_${flag.toUpperCase().replaceAll('-', '_')}`

function helpOf({ name, summary, flags }: Omit<Command, 'run'>): string {
  const lines = Object.entries(flags).map(([flag, { summary: about, value, default: fallback }]) => {
    const left = `--${flag}${value === undefined ? '' : ` <${value}>`}`
    const right = [
      about,
      fallback === undefined ? '' : `Default: ${fallback}.`,
      `Variable: ${variableOf(flag)}.`,
    ]
    return `  ${left.padEnd(20)} ${right.filter((text) => text !== '').join(' ')}`
  })
  return [`ashlar-idp ${name}`, '', summary, ...(lines.length > 0 ? ['', ...lines] : [])].join('\n')
}
