import type { RequestContext } from '../../context.js'
import type { OperationOptions, Repository } from '../contract/repository.js'

/**
 * Marks a class whose operations take the context of a call from their options and ask for no current one.
 */
export const TAKES_CONTEXT: unique symbol = Symbol('takes the context from its options')

/** The operations of {@link Repository}, with the index of the parameter in which each takes its options. */
type OptionsAt = {
  [
    Name in keyof Repository<object> as [IndexOfOptions<Repository<object>[Name]>] extends [never]
      ? never
      : Name
  ]: IndexOfOptions<Repository<object>[Name]>
}

type IndexOfOptions<Operation> = Operation extends (...operands: infer Operands) => Promise<unknown>
  ? Required<Operands> extends [...infer Before, OperationOptions]
    ? Before['length']
    : never
  : never

/**
 * The index of the parameter in which each operation of a repository takes its options, protected ones
 * included.
 */
export const OPTIONS_AT = {
  get: 1,
  list: 1,
  count: 1,
  exists: 1,
  create: 1,
  update: 3,
  modify: 2,
  delete: 1,
  undelete: 1,
  batchGet: 1,
  batchUpdate: 1,
  batchDelete: 1,
  purgeExpired: 1,
  transaction: 1,
  lookup: 2,
  reveal: 2,
  verify: 2,
  remint: 2,
  rewrapSecrets: 0,
  secretVersions: 0,
} as const satisfies OptionsAt & Readonly<Record<string, number>>

/** The context that a call of the operation was given explicitly. */
export const contextGiven = (name: string, operands: readonly unknown[]): RequestContext | undefined => {
  const at = (OPTIONS_AT as Readonly<Record<string, number>>)[name]
  return at === undefined ? undefined : (operands[at] as OperationOptions | undefined)?.context
}
