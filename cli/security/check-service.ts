import type { DeclarationError } from '../../lib/server/index.js'
import { OptionError, type SecurityReport } from '../../lib/testing/index.js'
import { Failure } from '../errors/failure.js'
import { servedBy } from '../loading/served.js'
import { withStdoutOnStderr } from '../output/stdout-on-stderr.js'

export interface CheckOptions {
  readonly module: string
  readonly exportName: string | undefined
  readonly publicMethods: readonly string[]
  readonly openMethods: readonly string[]
  readonly plainFields: readonly string[]
  readonly groups: readonly string[]
  readonly subject: string | undefined
  readonly tenants: readonly string[] | undefined
}

/** The name of an export that exists only for this command. */
const CHECKED = 'checked'

/** Checks the services of a module. The service's own output is redirected to stderr. */
export async function check(options: CheckOptions): Promise<SecurityReport> {
  const { module, exportName, groups, subject, tenants, ...rest } = options
  const two = twoOf(tenants)
  return withStdoutOnStderr(async () => {
    const served = await servedBy(module, exportName, [CHECKED])
    if (served.kind === 'services')
      throw new Failure('input', `${module} exports services without implementations: export a ServerBuilder`)
    const { securityCheck } = await import('../../lib/testing/index.js')
    const source = served.kind === 'builder' ? served.builder : served.server
    const as = { groups, ...(subject !== undefined && { subject }) }
    return securityCheck(source, { ...rest, ...(two && { tenants: two }), as }).catch(refused(module))
  })
}

function twoOf(tenants: readonly string[] | undefined): readonly [string, string] | undefined {
  if (tenants === undefined) return undefined
  const [first, second, ...more] = tenants
  if (first === undefined || second === undefined || more.length > 0)
    throw new Failure(
      'input',
      `--tenant: ${tenants.length} given: pass it twice, once for each of two tenants`,
    )
  return [first, second]
}

/** Returns the failure of a server that does not start, which is a mistake in the module. */
const refused = (module: string) => (error: unknown) => {
  // The flag that corresponds to the rejected option.
  if (error instanceof OptionError && error.option === 'tenants')
    throw new Failure('input', `--tenant: ${error.why}`)
  if (!(error instanceof TypeError) && !isSystem(error)) throw error
  const text = error.message.replaceAll(/\s*\n\s*/g, ' ')
  const hint = isNotInitialized(error) ? `; export a function \`${CHECKED}\` that does so first` : ''
  throw new Failure('input', `${module} does not start: ${text}${hint}`, { cause: error })
}

/**
 * Returns true for an uninitialized DataSource. It checks the problem's kind rather than the class, because
 * the module may use its own copy of the package.
 */
const isNotInitialized = (error: Error & Partial<DeclarationError>): boolean =>
  error.values?.some(({ kind }) => kind === 'notInitialized') === true

const isSystem = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'syscall' in error
