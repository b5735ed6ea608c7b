import { Flags } from '@oclif/core'
import { Failure } from '../errors/failure.js'

const path = {
  helpValue: '<path>',
  parse: (input: string, _context: unknown, { name }: { readonly name: string }) => {
    if (input.trim() === '') throw new Failure('input', `--${name} is empty: name a path`)
    return Promise.resolve(input)
  },
}

/** A flag that takes a path. An empty path is an error, not the working directory. */
export const pathFlag = Flags.custom<string>(path)

/** The same with a default that can be undefined, which the types of oclif do not see. */
export const defaultedPathFlag = Flags.custom<string | undefined>(path)
