import type { DescField, DescMethod } from '@bufbuild/protobuf'
import { Operations } from 'ashlar-annotations/google/longrunning/operations_pb.js'
import { type DeclaredProblem, DeclarationError, type Problem } from '../errors.js'
import { routesOf } from '../gateway/routing/bindings.js'
import type { AuthorizedServer } from './authz/authorizer.js'
import { type Undeclared, undeclaredError, undeclaredProblems } from './authz/missing-rules.js'
import { ruleFindings } from './authz/start-up-check.js'
import { methodOf, pathOf } from './chain/method.js'
import type { ResolvedConfig } from './config/config.js'
import { developmentProblems, FOR_DEVELOPMENT } from './development-guard.js'
import { readableRelations } from './expansion/readable-relations.js'
import type { HealthState } from './lifecycle/health.js'
import type { Registry } from './methods/registry.js'
import {
  repositoryFindings,
  rowAccessProblems,
  ruleTypeProblems,
  type ServedWarning,
} from './methods/repository-checks.js'
import type { OperationRunner } from './operations/operation-runner.js'
import { operationRules, operationsService, startsOperations } from './operations/operations-service.js'
import { proxiedMethods, proxyProblems } from './references/proxied-methods.js'
import { unshownReferences } from './references/show-references.js'
import type { Registrations } from './registrations.js'
import { strayReferenceVerbs } from './row-access/reference-verbs.js'
import { loadMessageRules } from './validation/protovalidate.js'

/** The parts of a server that exist before its plan. */
export interface Foundation {
  readonly config: ResolvedConfig
  readonly registrations: Registrations
  /** The description of the server that the authorizer receives. */
  readonly authorized: AuthorizedServer
  readonly health: HealthState
  readonly runner: OperationRunner
}

/** The results of all checks of a server. */
interface ServerFindings {
  readonly undeclared: readonly Undeclared[]
  readonly groups: readonly ProblemGroup[]
  readonly warnings: readonly ServedWarning[]
}

/** Problems with a common subject. */
interface ProblemGroup {
  readonly subject: string
  readonly problems: readonly Problem[]
}

/** Adds the operations service if a method starts operations. */
export const addOperations = ({ config, registrations, runner }: Foundation): void => {
  const services = registrations.registry.services()
  if (services.some(({ typeName }) => typeName === Operations.typeName)) return
  if (!services.some(({ methods }) => methods.some(startsOperations))) return
  registrations.addBuiltIn(Operations, operationRules, operationsService(config.operationStore, runner))
}

/** Runs every check of a server, so that one startup reports all problems. */
export async function startUpFindings(
  { config, registrations, authorized }: Foundation,
  ofMessages: readonly Problem[],
): Promise<ServerFindings> {
  const { registry, references, recorded, rules, mux } = registrations
  const methods = new Map<string, DescMethod>(
    registry.services().flatMap((service) => service.methods.map((desc) => [pathOf(desc), desc] as const)),
  )
  const parts = registry.parts()
  const ofRules = ruleFindings(
    methods,
    recorded,
    rules,
    (service) => parts.get(service)?.repository?.model.type,
  )
  const repositories = [...parts.values()].flatMap(({ repository }) => repository ?? [])
  const ofRepositories = await repositoryFindings(repositories, registry, config.limits)
  const external = references.external()
  const problems = [
    ...registry.problems(),
    ...ruleTypeProblems(registry, rules),
    ...references.problems(),
    ...readableRelations(registry, rules).problems,
    ...strayReferenceVerbs(registry),
    ...unshownReferences(shownBy(registry), external, isRelation(registry)),
    ...proxyProblems(external, registry.services(), mux !== undefined),
    ...ofMessages,
    ...ofRepositories.problems,
    ...rowAccessProblems(config.authorizer, repositories),
    ...(
      await Promise.all(
        config.workers.map(async (worker) => (await worker.startUpCheck?.(config.workers)) ?? []),
      )
    ).flat(),
    ...((await config.authorizer.startUpCheck?.(authorized)) ?? []),
  ]
  return {
    undeclared: ofRules.undeclared,
    groups: [
      { subject: 'authz', problems: ofRules.problems },
      { subject: 'server', problems: new DeclarationError('server', problems).values as readonly Problem[] },
      { subject: FOR_DEVELOPMENT, problems: developmentProblems(config, registry, process.env['NODE_ENV']) },
      { subject: 'gateway', problems: mux === undefined ? [] : routeProblems(registrations) },
    ],
    warnings: ofRepositories.warnings,
  }
}

/** The result of checking a server without starting it. */
export interface ServerCheck {
  readonly problems: readonly DeclaredProblem[]
  /** The warnings, each with the entity class that it concerns. */
  readonly warnings: readonly { readonly entity: string; readonly text: string }[]
}

export async function checked(foundation: Foundation): Promise<ServerCheck> {
  addOperations(foundation)
  const { config, registrations } = foundation
  const { registry } = registrations
  const { problems } = await loadMessageRules(registry.services(), registry, config.logger)
  const found = await startUpFindings({ ...foundation, config: { ...config, workers: [] } }, problems)
  return { problems: problemsIn(found), warnings: found.warnings }
}

/** @throws an error with all problems, if there are any. */
export function refuse({ undeclared, groups }: ServerFindings): void {
  const found = groups.filter(({ problems }) => problems.length > 0)
  const [first, second] = found
  if (first === undefined && undeclared.length > 0) throw undeclaredError(undeclared)
  if (first !== undefined && second === undefined && undeclared.length === 0)
    throw new DeclarationError(first.subject, first.problems)
  const all = problemsIn({ undeclared, groups })
  if (all.length > 0) throw new DeclarationError('server', all)
}

/** Returns all problems in one list. Each states its subject, unless that is the server. */
const problemsIn = ({
  undeclared,
  groups,
}: Pick<ServerFindings, 'undeclared' | 'groups'>): readonly Problem[] => [
  ...undeclaredProblems(undeclared),
  ...groups.flatMap(({ subject, problems }) =>
    subject === 'server' ? problems : problems.map((one) => ({ ...one, text: `${subject}: ${one.text}` })),
  ),
]

function routeProblems({ registry, references }: Registrations): readonly Problem[] {
  const methods = registry.services().flatMap((service) => service.methods)
  try {
    routesOf([...methods, ...proxiedMethods(references.external()).keys()])
    return []
  } catch (error) {
    if (!(error instanceof DeclarationError)) throw error
    return error.values as readonly Problem[]
  }
}

/** Returns the methods implemented by repositories. Your own functions fill their responses themselves. */
const shownBy = (registry: Registry): readonly DescMethod[] =>
  [...registry.parts()].flatMap(([service, { repository }]) =>
    repository === undefined
      ? []
      : service.methods.filter((desc) => methodOf(desc).readable.message === repository.model.message),
  )

/** Returns a test for fields that a repository fills with a related resource itself. */
const isRelation = (registry: Registry) => {
  const models = registry.repositories().map(({ model }) => model)
  return ({ parent, name }: DescField): boolean =>
    models.some(
      ({ message, relations, byProto }) =>
        message === parent && (byProto.has(name) || relations.some(({ proto }) => proto === name)),
    )
}
