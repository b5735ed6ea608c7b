import type { SecurityReport } from '../../lib/testing/index.js'
import { Failure } from '../errors/failure.js'
import { servedBy } from '../loading/served.js'

export interface CheckOptions {
  readonly module: string
  readonly exportName: string | undefined
  readonly publicMethods: readonly string[]
  readonly openMethods: readonly string[]
  readonly plainFields: readonly string[]
  readonly groups: readonly string[]
  readonly subject: string | undefined
}

/** Checks the services of a module. What the service prints meanwhile goes to stderr. */
export async function check(options: CheckOptions): Promise<SecurityReport> {
  const { module, exportName, groups, subject, ...rest } = options
  const { stdout, stderr } = process
  const before = Object.getOwnPropertyDescriptor(stdout, 'write')
  stdout.write = stderr.write.bind(stderr)
  try {
    const served = await servedBy(module, exportName)
    if (served.kind === 'services')
      throw new Failure('input', `${module} exports services without implementations: export a ServerBuilder`)
    const { securityCheck } = await import('../../lib/testing/index.js')
    const source = served.kind === 'builder' ? served.builder : served.server
    const as = { groups, ...(subject !== undefined && { subject }) }
    return await securityCheck(source, { ...rest, as }).catch(refused(module))
  } finally {
    if (before === undefined) Reflect.deleteProperty(stdout, 'write')
    else Object.defineProperty(stdout, 'write', before)
  }
}

/** A server that does not start is the mistake of its author. */
const refused = (module: string) => (error: unknown) => {
  if (!(error instanceof TypeError) && !isSystem(error)) throw error
  throw new Failure('input', `${module} does not start: ${error.message.replaceAll(/\s*\n\s*/g, ' ')}`, {
    cause: error,
  })
}

const isSystem = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'syscall' in error
