import { Config, type Errors } from '@oclif/core'
import { loadOptions, type Program } from '../loading/load-options.js'
import { nearestNames } from '../../lib/text/nearest-names.js'

/** Returns a usage error in one line. For an unknown command or flag it suggests the nearest known one. */
export async function usageMessage(program: Program, error: Errors.CLIError): Promise<string> {
  const [, unknown] = /^command (\S+) not found\.?$/i.exec(error.message) ?? []
  if (unknown !== undefined) {
    const { commandIDs } = await Config.load(loadOptions(program))
    return unknownCommand(program, unknown, commandIDs)
  }
  const { flags: [flag] = [], parse } = error as Partial<UnknownFlags>
  if (flag !== undefined) {
    const known = Object.keys(parse?.input.flags ?? {}).map((name) => `--${name}`)
    return `unknown flag ${flag}${meant(flag, known)}; see --help`
  }
  const absent = missing(error)
  if (absent.length > 0) return `${absent.join('; ')}; see --help`
  return inOurWords(error.message).replace(/\n+See more help with --help$/, '; see --help')
}

/** Rewrites oclif's message about a flag's value. A flag with its own parser has its own message. */
const inOurWords = (message: string): string =>
  message
    .replace(NO_INTEGER, '$1 takes a whole number, and “$2” is none')
    .replace(TOO_SMALL, '$1 is $2 or more, and not $3')
    .replace(TOO_LARGE, '$1 is at most $2, and not $3')
    .replace(/^Parsing --\S+ \n\t/, '')

const NO_INTEGER = /^Parsing (--\S+) \n\tExpected an integer but received: (.*)/
const TOO_SMALL =
  /^Parsing (--\S+) \n\tExpected an integer greater than or equal to (-?\d+) but received: (.*)/
const TOO_LARGE = /^Parsing (--\S+) \n\tExpected an integer less than or equal to (-?\d+) but received: (.*)/

/**
 * Returns the message for an unknown command. Within an existing topic such as `migrate`, only the rest of
 * the name is compared.
 */
function unknownCommand(program: Program, unknown: string, commandIDs: readonly string[]): string {
  const [first = '', ...rest] = unknown.split(':')
  const ofTopic = commandIDs.filter((id) => id.startsWith(`${first}:`))
  const isInTopic = rest.length > 0 && ofTopic.length > 0
  const prefix = isInTopic ? `${first}:` : ''
  const [near] = nearestNames(
    unknown.slice(prefix.length),
    (isInTopic ? ofTopic : commandIDs).map((id) => id.slice(prefix.length)),
  )
  // A known command without arguments that was called with one.
  const known = commandIDs.find((id) => unknown.startsWith(`${id}:`))
  const intended = known ?? (near === undefined ? undefined : prefix + near)
  const words = (id: string) => id.replaceAll(':', ' ')
  const advice = intended === undefined ? '' : `, did you mean ${words(intended)}?`
  return `unknown command ${words(unknown)}${advice}; see ${[program, ...(isInTopic ? [first] : [])].join(' ')} --help`
}

/**
 * Returns the missing inputs: arguments with their description, and flags with the environment variable that
 * also sets them.
 */
function missing(error: Errors.CLIError): readonly string[] {
  const { args = [], parse } = error as Partial<MissingArguments & ParsedFlags>
  if (error.message.startsWith('Missing '))
    return args.map(({ name, description = '', options }) => {
      const choice = options === undefined ? '' : `, one of ${options.join(', ')}`
      return `<${name}> is missing: ${description.replace(/\.$/, '')}${choice}`
    })
  return [...error.message.matchAll(/Missing required flag (\S+)/g)].map(([, flag = '']) => {
    const { env } = parse?.input.flags[flag] ?? {}
    return `--${flag} is missing${env === undefined ? '' : `: say it, or better set ${env}`}`
  })
}

interface MissingArguments {
  readonly args: readonly {
    readonly name: string
    readonly description?: string
    readonly options?: readonly string[]
  }[]
}

interface ParsedFlags {
  readonly parse: { readonly input: { readonly flags: Readonly<Record<string, { readonly env?: string }>> } }
}

/** The part of oclif's error for unknown flags that is used. */
interface UnknownFlags {
  readonly flags: readonly string[]
  readonly parse: { readonly input: { readonly flags: object } }
}

function meant(word: string, known: readonly string[]): string {
  const [near] = nearestNames(word, known)
  return near === undefined ? '' : `, did you mean ${near}?`
}
