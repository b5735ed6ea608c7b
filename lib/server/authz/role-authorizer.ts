import { resolve } from 'node:path'
import { DeclarationError, problem } from '../../errors.js'
import { WatchedFile } from '../../files/watched-file.js'
import type { AuthorizationRequest, AuthorizedServer, Authorizer } from './authorizer.js'
import { refusal } from './grant.js'
import { type PolicyFile, readPolicyFile } from './policy-file.js'
import {
  firstProblems,
  policyProblems,
  sharedWriters,
  textOfPath,
  unknownPermissions,
} from './policy-problems.js'
import { PolicyIndex, type RolePolicy } from './role-policy.js'

const NAME = 'roleAuthorizer'

const NAMED = 'resource "*" does not grant writes to shared resources, so a permission must name the resource'

/**
 * Returns an authorizer for production. A principal may do what the roles bound to its subject or groups
 * allow in its tenant. Everything else is denied.
 *
 * `resource: '*'` does not allow writes to a resource with `shared: true`, which every tenant reads; a
 * permission must name that resource. At startup the server logs the roles that may write one.
 *
 * A server does not start if the policy allows a verb on a resource type that neither a method nor a relation
 * requires. A policy file is YAML or JSON of at most 128 KiB. It is read at startup and after every change;
 * each call is decided by one version of it. If a changed file is invalid or missing, an error is logged once
 * and the last valid version stays in use.
 * @throws DeclarationError with every mistake in a policy written in code.
 * @example
 * ```ts
 * import { roleAuthorizer } from 'ashlar'
 *
 * const authorizer = roleAuthorizer({
 *   roles: {
 *     viewer: [{ verbs: ['get', 'list'], resource: '*' }],
 *     editor: [{ verbs: ['*'], resource: 'widget' }],
 *   },
 *   bindings: [
 *     { tenant: '*', subjects: ['group:staff'], roles: ['viewer'] },
 *     { tenant: 'acme', subjects: ['alice', 'group:makers'], roles: ['viewer', 'editor'] },
 *   ],
 * })
 *
 * const reloaded = roleAuthorizer({ file: '/etc/widgets/roles.yaml' })
 * ```
 */
export const roleAuthorizer = (policy: RolePolicy | { readonly file: string }): Authorizer => {
  if (!('file' in policy)) return new CodeAuthorizer(policy)
  const { file, ...rest } = policy
  const problems = [
    ...(typeof file === 'string' && file !== ''
      ? []
      : [problem('option', 'file is not a path', 'write one')]),
    ...Object.keys(rest).map((name) =>
      problem('option', `${name} is set besides file`, 'write it in the file'),
    ),
  ]
  if (problems.length > 0) throw new DeclarationError(NAME, problems)
  return new FileAuthorizer(resolve(file))
}

abstract class RoleAuthorizer implements Authorizer {
  protected index = new PolicyIndex()

  authorize(request: AuthorizationRequest): boolean {
    return this.index.allows(request)
  }

  explain(request: AuthorizationRequest): string {
    const said = refusal('role', this.index.permissionsFor(request), request)
    return request.writesShared === true ? `${said}; ${NAMED}` : said
  }
}

class CodeAuthorizer extends RoleAuthorizer {
  readonly #policy: RolePolicy

  constructor(policy: RolePolicy) {
    super()
    const problems = policyProblems(policy).map(({ path, text }) => `${textOfPath(path) || 'it'} ${text}`)
    if (problems.length > 0)
      throw new DeclarationError(
        NAME,
        firstProblems(problems).map((text) => problem('rule', text)),
      )
    this.#policy = structuredClone(policy)
    this.index = new PolicyIndex(this.#policy)
  }

  startUpCheck(server: AuthorizedServer): readonly string[] {
    const problems = unknownPermissions(this.#policy, server.permissions)
    if (problems.length === 0) tellSharedWriters(this.#policy, server)
    return firstProblems(problems.map(({ path, text }) => `${NAME}: ${textOfPath(path)}: ${text}`))
  }
}

const DEBOUNCE_MS = 100
/** Polls because some file systems do not report changes. */
const RECHECK_MS = 10_000

class FileAuthorizer extends RoleAuthorizer {
  /** The servers that have started with this authorizer. Servers built by the same builder share it. */
  readonly #servers = new Set<AuthorizedServer>()
  /** The started and starting servers. The file is watched while there is at least one. */
  readonly #users = new Set<AuthorizedServer>()
  #watched: Promise<WatchedFile> | undefined
  #file: PolicyFile | undefined
  /** The problems of the last read; empty if its policy is in use. */
  #problems: readonly string[] = []

  constructor(private readonly path: string) {
    super()
  }

  /**
   * @throws TypeError if `startUpCheck` was not called, so that denials caused by a missing file do not look
   *   like decisions.
   */
  override authorize(request: AuthorizationRequest): boolean {
    if (this.#file === undefined)
      throw new TypeError(`${NAME} has not read ${this.path}: forward its startUpCheck and close`)
    return super.authorize(request)
  }

  async startUpCheck(server: AuthorizedServer): Promise<readonly string[]> {
    this.#users.add(server)
    this.#watched ??= WatchedFile.open(this.path, {
      debounceMs: DEBOUNCE_MS,
      recheckMs: RECHECK_MS,
      read: () => this.#read(),
      unwatched: (code) => {
        const fields = { file: this.path, code, recheckMs: RECHECK_MS }
        this.#tell((logger) => logger.warn(fields, 'the system does not watch the roles file'))
      },
    })
    const watched = await this.#watched
    await watched.read()
    const problems =
      this.#file === undefined || this.#problems.length > 0
        ? this.#problems
        : unknownIn(this.#file, server.permissions)
    if (problems.length === 0) {
      this.#servers.add(server)
      tellSharedWriters(this.#file?.policy, server)
    } else await this.close(server)
    return firstProblems(problems).map((problem) => `${NAME}: ${problem}`)
  }

  async close(server: AuthorizedServer): Promise<void> {
    this.#servers.delete(server)
    this.#users.delete(server)
    if (this.#users.size > 0) return
    const watched = this.#watched
    this.#watched = undefined
    await (await watched)?.close()
  }

  async #read(): Promise<void> {
    const file = await this.#readNow()
    const problems = typeof file === 'string' ? [file] : this.#problemsOf(file)
    const isNews = problems.join('\n') !== this.#problems.join('\n')
    this.#problems = problems
    if (typeof file === 'string' || file.policy === undefined || problems.length > 0) {
      const fields = { file: this.path, problems: firstProblems(problems) }
      if (isNews)
        this.#tell((logger) =>
          logger.error(fields, 'the roles file is not used: the last good version stays'),
        )
      return
    }
    const isChanged = file.text !== this.#file?.text
    if (isChanged) this.index = new PolicyIndex(file.policy)
    this.#file = file
    if (isChanged) for (const server of this.#servers) tellSharedWriters(file.policy, server)
    if (isChanged || isNews)
      this.#tell((logger) => logger.info({ file: this.path }, 'the roles file is used'))
  }

  /** Returns the file, or the reason why it cannot be read. */
  async #readNow(): Promise<PolicyFile | string> {
    try {
      await (await this.#watched)?.follow()
      return await readPolicyFile(this.path)
    } catch (error) {
      return (error as Error).message
    }
  }

  #problemsOf(file: PolicyFile): readonly string[] {
    const unknown = [...this.#servers].flatMap(({ permissions }) => unknownIn(file, permissions))
    return [...file.problems, ...new Set(unknown)]
  }

  #tell(write: (logger: AuthorizedServer['logger']) => void): void {
    for (const logger of new Set([...this.#servers].map((server) => server.logger))) write(logger)
  }
}

const unknownIn = (file: PolicyFile, permissions: AuthorizedServer['permissions']): readonly string[] =>
  file.policy === undefined
    ? []
    : unknownPermissions(file.policy, permissions).map(({ path, text }) => `${file.placeOf(path)}: ${text}`)

/** Logs which roles may change rows that every tenant reads. */
const tellSharedWriters = (
  policy: RolePolicy | undefined,
  { logger, sharedWrites }: AuthorizedServer,
): void => {
  if (policy === undefined || sharedWrites.length === 0) return
  const writes = sharedWriters(policy, sharedWrites)
  if (writes.some(({ roles }) => roles.length === 0))
    logger.warn({ writes }, 'roles that may write shared resources: no role may call some methods')
  else logger.info({ writes }, 'roles that may write shared resources')
}
