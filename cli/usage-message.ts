import { Config, type Errors } from '@oclif/core'
import { loadOptions, type Program } from './load-options.js'
import { nearest } from './nearest.js'

/** What a person typed wrong, in one line: an unknown command or flag is answered with the nearest known one. */
export async function usageMessage(program: Program, error: Errors.CLIError): Promise<string> {
  const [, unknown] = /^command (\S+) not found\.?$/i.exec(error.message) ?? []
  if (unknown !== undefined) {
    const words = unknown.replaceAll(':', ' ')
    const { commandIDs } = await Config.load(loadOptions(program))
    return `there is no command ${words}${meant(
      words,
      commandIDs.map((id) => id.replaceAll(':', ' ')),
    )}; see ${program} --help`
  }
  const { flags: [flag] = [], parse } = error as Partial<UnknownFlags>
  if (flag !== undefined) {
    const known = Object.keys(parse?.input.flags ?? {}).map((name) => `--${name}`)
    return `there is no flag ${flag}${meant(flag, known)}; see --help`
  }
  return error.message.replace(/\n+See more help with --help$/, '; see --help')
}

/** The part of oclif's error for unknown flags that is read here. */
interface UnknownFlags {
  readonly flags: readonly string[]
  readonly parse: { readonly input: { readonly flags: object } }
}

function meant(word: string, known: readonly string[]): string {
  const near = nearest(word, known)
  return near === undefined ? '' : `, did you mean ${near}?`
}
