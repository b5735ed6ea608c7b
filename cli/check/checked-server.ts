import type { DeclarationError, Rule } from '../../lib/server/index.js'
import { Failure } from '../errors/failure.js'
import { type Served, servedBy } from '../loading/served.js'

/** A problem that prevents startup. */
export type StartUpProblem = DeclarationError['values'][number]

/** The result of checking a server. */
export interface CheckedServer {
  /** The problems of the server, or those that prevent it from being built. */
  readonly problems: readonly StartUpProblem[]
  readonly warnings: readonly { readonly entity: string; readonly text: string }[]
  readonly notes: readonly string[]
  /** Undefined if the server could not be built. */
  readonly rules: readonly Rule[] | undefined
  /** The entity classes of its repositories. */
  readonly entities: readonly unknown[]
}

const NONE = { problems: [], warnings: [], notes: [], rules: undefined, entities: [] }

/** The export that connects to a database before it builds the server; see `ashlar security-check`. */
const CONNECTED = 'checked'

/** Builds the server of a module, starts nothing, and runs its checks. */
export async function checkedServer(
  module: string | undefined,
  exportName: string | undefined,
): Promise<CheckedServer> {
  if (module === undefined) return NONE
  try {
    return await checks(module, exportName, [CONNECTED])
  } catch (error) {
    if (!(error instanceof Failure) || error.cause === undefined) throw error
    const refused = declaredIn(error.cause)
    if (refused !== undefined) return { ...NONE, problems: refused }
    const unconnected = exportName === undefined ? await retried(module) : undefined
    return unconnected ?? { ...NONE, notes: [`the server is not checked: ${error.message}`] }
  }
}

/** Repeats the checks without the export that needs a database. */
async function retried(module: string): Promise<CheckedServer | undefined> {
  try {
    return await checks(module, undefined, [])
  } catch (error) {
    const refused = error instanceof Failure ? declaredIn(error.cause) : undefined
    return refused && { ...NONE, problems: refused }
  }
}

async function checks(
  module: string,
  exportName: string | undefined,
  preferred: readonly string[],
): Promise<CheckedServer> {
  const served = await servedBy(module, exportName, preferred)
  const server = serverIn(module, served)
  const { problems, warnings } = await server.check()
  const isUnconnected = problems.some(({ kind }) => kind === 'notInitialized')
  const repositories = [...server.services().values()].flatMap(({ repository }) => repository ?? [])
  return {
    problems: problems.filter(({ kind }) => kind !== 'notInitialized'),
    warnings,
    notes: isUnconnected ? [NOT_CONNECTED] : [],
    rules: server.rules(),
    entities: repositories.map(({ model }) => model.entity),
  }
}

const NOT_CONNECTED =
  'the DataSource of the server is not connected, so its database is not checked: export a function `checked` that connects first'

function serverIn(module: string, served: Served) {
  if (served.kind === 'services')
    throw new Failure('input', `${module} exports services without implementations: export a ServerBuilder`)
  if (served.kind === 'server') return served.server
  try {
    // Development-only parts are a problem of the environment in which the server starts.
    return served.builder.build((config) => ({
      ...config,
      grpcAddr: config.grpcAddr ?? ':0',
      allowDevelopment: true,
    }))
  } catch (error) {
    throw new Failure('input', (error as Error).message, { cause: error })
  }
}

/** Returns the problems of a declaration error, which may come from another copy of the package. */
function declaredIn(error: unknown): readonly StartUpProblem[] | undefined {
  const { subject, values } = (error ?? {}) as Partial<DeclarationError>
  if (values === undefined) return undefined
  return values.map((one) => {
    const isNamed = subject === undefined || ['entities', 'server'].includes(subject)
    return isNamed ? one : { ...one, text: `${subject}: ${one.text}` }
  })
}
