import { Flags } from '@oclif/core'
import { Failure } from '../errors/failure.js'

const path = {
  helpValue: '<path>',
  parse: (input: string, _context: unknown, { name }: { readonly name: string }) => {
    if (input.trim() === '') throw new Failure('input', `--${name} is empty: name a path`)
    return Promise.resolve(input)
  },
}

/** A flag that accepts a path. An empty path is an error rather than the working directory. */
export const pathFlag = Flags.custom<string>(path)

/** The same flag with a default that may be undefined, which oclif's types do not express. */
export const defaultedPathFlag = Flags.custom<string | undefined>(path)
