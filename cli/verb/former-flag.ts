import { Flags } from '@oclif/core'

/**
 * The old name of an integer flag: it is not in the help, warns on stderr, and cannot be given beside the new
 * one.
 */
export const formerInteger = (name: string, min: number) =>
  Flags.integer({ hidden: true, deprecated: { to: name }, exclusive: [name], min })
