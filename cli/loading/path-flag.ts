import { Flags } from '@oclif/core'
import { Failure } from '../errors/failure.js'

/** A flag that takes a path. An empty path is an error, not the working directory. */
export const pathFlag = Flags.custom<string>({
  helpValue: '<path>',
  parse: (input, _context, { name }) => {
    if (input.trim() === '') throw new Failure('input', `--${name} is empty: name a path`)
    return Promise.resolve(input)
  },
})
