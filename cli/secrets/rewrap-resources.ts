import type { ResourceModel, RewrapProgress } from '../../lib/persistence/index.js'
import type { Encryptor } from '../../lib/secrets/index.js'
import { Failure } from '../errors/failure.js'
import { fromEntities, noEntities } from '../loading/entities.js'
import { foreignModule } from '../loading/foreign-module.js'
import { connectedTo } from '../outbox/with-outbox.js'

/** The parsed flags of `secrets rewrap`. */
export interface RewrapFlags {
  readonly url: string
  readonly schema?: string | undefined
  readonly entities: string
  readonly encryptor: string
  readonly batch: number
  readonly after?: string | undefined
  readonly count: boolean
}

/** The result for one resource. */
export interface RewrappedResource extends Pick<
  RewrapProgress,
  'rows' | 'rewrapped' | 'changed' | 'unreadable'
> {
  readonly type: string
  /** The number of secrets for each key version. */
  readonly versions: Readonly<Record<string, number>>
}

/** The overall progress. */
export interface RewrapResult {
  readonly resources: readonly RewrappedResource[]
  /** Undefined if every row was processed. */
  readonly after: string | undefined
}

const NOTHING = { rows: 0, rewrapped: 0, changed: 0, unreadable: 0 }

/**
 * Encrypts the secrets of all resources of a module with the newest key, for all tenants.
 * @throws {Failure} if the module cannot be loaded, and for errors of the database or the encryptor.
 */
export async function rewrap(
  flags: RewrapFlags,
  signal: AbortSignal,
  reported: (type: string, progress: RewrapProgress) => void,
): Promise<RewrapResult> {
  const { batch, count } = flags
  const [{ RequestContext }, { resourcesIn, TypeormRepository }, { CredentialMinter, TransitError }] =
    await Promise.all([
      import('../../lib/index.js'),
      import('../../lib/persistence/index.js'),
      import('../../lib/secrets/index.js'),
    ])
  const { models, naming, schema } = await fromEntities(flags.entities, resourcesIn)
  if (models.length === 0) throw noEntities(flags.entities)
  const secret = models.filter(({ secrets }) => secrets.length > 0)
  if (secret.length === 0) throw new Failure('input', `${flags.entities} has no resource with a @Secret()`)
  const encryptor = await encryptorOf(flags.encryptor)
  const begin = placeOf(flags.after, secret)
  const all = async (
    dataSource: ConstructorParameters<typeof TypeormRepository>[0],
  ): Promise<RewrapResult> => {
    const resources: RewrappedResource[] = []
    for (const model of secret.slice(begin?.index ?? 0)) {
      const repository = new TypeormRepository(dataSource, model.entity, {
        encryptor,
        minter: new CredentialMinter(),
      })
      const after = begin?.type === model.type ? begin.after : undefined
      const progress = count
        ? undefined
        : await repository.rewrapSecrets({
            batch,
            signal,
            onProgress: (progress) => reported(model.type, progress),
            ...(after !== undefined && { after }),
          })
      const { rows, rewrapped, changed, unreadable } = progress ?? NOTHING
      const versions = await repository.secretVersions()
      resources.push({ type: model.type, rows, rewrapped, changed, unreadable, versions })
      if (progress?.isDone === false)
        return { resources, after: placeText({ type: model.type, after: progress.after }) }
    }
    return { resources, after: undefined }
  }
  const { namingStrategy, options } = naming
  const declared = {
    entities: models.map(({ entity }) => entity),
    ...options,
    ...(namingStrategy !== undefined && { namingStrategy }),
  }
  const at = { url: flags.url, schema: flags.schema ?? schema }
  // The command's own output records the access.
  const end = RequestContext.onSystem(() => undefined)
  return connectedTo(at, { declared, isFor: 'secrets' }, (dataSource) =>
    RequestContext.asSystem({ reason: 'ashlar secrets rewrap' }, () => all(dataSource)).catch(
      (error: unknown) => {
        if (!(error instanceof TransitError)) throw error
        throw new Failure('database', `${error.message}: the secrets written so far stay; run it again`, {
          cause: error,
        })
      },
    ),
  ).finally(end)
}

async function encryptorOf(module: string): Promise<Encryptor> {
  const exports = await foreignModule(module)
  const exported = exports.encryptor ?? exports.default
  const value: unknown = typeof exported === 'function' ? await (exported as () => unknown)() : exported
  const isEncryptor =
    typeof value === 'object' && value !== null && 'encrypt' in value && 'decrypt' in value && 'hash' in value
  if (isEncryptor) return value as Encryptor
  throw new Failure(
    'input',
    `${module} exports no encryptor: export it, or a function that returns it, as encryptor`,
  )
}

interface Place {
  readonly type: string
  readonly after: string | undefined
}

const placeText = (place: Place): string => Buffer.from(JSON.stringify(place)).toString('base64url')

function placeOf(
  text: string | undefined,
  models: readonly ResourceModel[],
): (Place & { readonly index: number }) | undefined {
  if (text === undefined) return undefined
  try {
    const place = JSON.parse(Buffer.from(text, 'base64url').toString()) as Place
    const index = models.findIndex(({ type }) => type === place.type)
    if (index >= 0) return { ...place, index }
  } catch {
    // Reported below.
  }
  throw new Failure('input', '--after is not a value that a run with these entities printed')
}
