import type { permissionCatalog, Server, ServerBuilder } from '../../lib/server/index.js'
import { Failure } from '../errors/failure.js'
import { foreignModule } from './foreign-module.js'

type Services = Exclude<Parameters<typeof permissionCatalog>[0], Server>

/** The exports of a module that commands can inspect: a builder, a server, or generated services. */
export type Served =
  | { readonly kind: 'builder'; readonly builder: ServerBuilder }
  | { readonly kind: 'server'; readonly server: Server }
  | { readonly kind: 'services'; readonly services: Services }

/** The export names of a builder, a server, or a function that creates one. */
const NAMES = ['default', 'builder', 'server']

/**
 * Loads a module and finds its services. It uses, in this order: the export of that name; one of `preferred`;
 * `default`, `builder` or `server`; its only builder or server; its generated services. A function is called
 * without arguments and awaited.
 * @throws Failure if the module cannot be loaded or exports none of these.
 */
export async function servedBy(
  module: string,
  name?: string,
  preferred: readonly string[] = [],
): Promise<Served> {
  const exports = await foreignModule(module)
  if (name !== undefined && !(name in exports))
    throw new Failure('input', `${module} exports no ${name}: it has ${Object.keys(exports).join(', ')}`)
  const named = name ?? [...preferred, ...NAMES].find((one) => one in exports && isCandidate(exports[one]))
  if (named !== undefined) return made(module, named, exports[named])
  const found = Object.entries(exports).filter(([, value]) => isBuilder(value) || isServer(value))
  if (found.length > 1)
    throw new Failure(
      'input',
      `${module} exports several servers: name one of ${found.map(([one]) => one).join(', ')} with --export`,
    )
  const [only] = found
  if (only !== undefined) return made(module, only[0], only[1])
  const services = Object.values(exports).filter(isService)
  if (services.length > 0) return { kind: 'services', services }
  throw new Failure(
    'input',
    `${module} exports no ServerBuilder or Server: export one, or a function that returns one, as builder or server`,
  )
}

const isCandidate = (value: unknown): boolean =>
  isBuilder(value) || isServer(value) || typeof value === 'function'

async function made(module: string, name: string, exported: unknown): Promise<Served> {
  const value =
    typeof exported === 'function' ? await call(module, name, exported as () => unknown) : exported
  if (isBuilder(value)) return { kind: 'builder', builder: value }
  if (isServer(value)) return { kind: 'server', server: value }
  if (isService(value)) return { kind: 'services', services: [value] }
  throw new Failure(
    'input',
    `${name} of ${module} is not a ServerBuilder or a Server, and does not return one`,
  )
}

async function call(module: string, name: string, fn: () => unknown): Promise<unknown> {
  try {
    return await fn()
  } catch (error) {
    throw new Failure('input', `${name}() of ${module} failed: ${textOf(error)}`, { cause: error })
  }
}

/**
 * Returns true for a builder. It checks methods rather than the class, because the module may use its own
 * copy of the package.
 */
const isBuilder = (value: unknown): value is ServerBuilder =>
  has(value, 'build') && has(value, 'register') && has(value, 'allowDevelopment')

const isServer = (value: unknown): value is Server =>
  has(value, 'serve') && has(value, 'services') && has(value, 'recordedMethods')

const isService = (value: unknown): value is Services[number] =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'service'

const has = (value: unknown, method: string): boolean =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, method) === 'function'

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
