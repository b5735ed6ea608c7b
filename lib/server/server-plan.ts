import { uncountedBytes } from '../resource/messages/message-limits.js'
import { MAX_IN_BATCH } from '../persistence/contract/batch.js'
import type { DescField, DescService } from '@bufbuild/protobuf'
import type { Dispatcher } from '../call.js'
import type { ExactPaths } from '../gateway/exact-path.js'
import { Gateway } from '../gateway/gateway.js'
import { IDENTITY_HEADERS } from '../gateway/http/metadata-of.js'
import { registryOf } from '../gateway/json/type-registry.js'
import type { Deadline } from './chain/deadline.js'
import { pathOf } from './chain/method.js'
import { frameworkChain } from './interceptor-order.js'
import { connectPaths } from './connect/connect-paths.js'
import { identityOf, type ResolvedConfig } from './config/config.js'
import { dispatcher } from './dispatch.js'
import { readableRelations } from './expansion/readable-relations.js'
import { RelatedLists } from './expansion/related-lists.js'
import { RelatedReader } from './expansion/related-reader.js'
import type { HealthState } from './lifecycle/health.js'
import { describeApi } from './openapi/describe-api.js'
import { loadTelemetry, type Telemetry } from './observability/telemetry.js'
import { loadPrometheus, type Prometheus } from './observability/prometheus.js'
import type { OperationRunner } from './operations/operation-runner.js'
import type { ExternalTarget } from './references/external-target.js'
import { proxiedMethods } from './references/proxied-methods.js'
import { proxying } from './references/proxying.js'
import { showReferences } from './references/show-references.js'
import { addOperations, type Foundation, refuse, startUpFindings } from './start-up-findings.js'
import { sharedWrites } from './row-access/tenantless-writes.js'
import { OtherReads } from './row-access/other-reads.js'
import { ReferenceDecisions } from './row-access/reference-decisions.js'
import { UnauthenticatedBytes } from '../bounds/unauthenticated-bytes.js'
import { UnfinishedBytes } from '../bounds/unfinished-bytes.js'
import { loadMessageRules, type MessageRules } from './validation/protovalidate.js'

/**
 * The result of planning a server before it binds its addresses. The parts stay the same while the server
 * runs. Some contain changing state, such as the open calls and the rules that authorization reads.
 */
export interface ServerPlan {
  readonly config: ResolvedConfig
  readonly services: readonly DescService[]
  /** The interceptor chains of all methods, with their handlers. */
  readonly dispatcher: Dispatcher
  /** The gateway with its routes; undefined without a gateway. */
  readonly gateway: Gateway | undefined
  readonly unauthenticated: UnauthenticatedBytes
  readonly telemetry: Telemetry | undefined
  /** Undefined if no metrics are served. */
  readonly prometheus: Prometheus | undefined
  readonly health: HealthState
  readonly runner: OperationRunner
  /** The deadlines of open calls. Each call adds its own and removes it when it ends. */
  readonly openCalls: readonly Deadline[]
  /** The processes that serve other resources. Each connection is closed when no call needs it. */
  readonly externalTargets: readonly ExternalTarget[]
}

/**
 * Plans a server and checks it.
 * @throws if something must not be served: a method without a rule, an invalid route, an unusable repository,
 *   or development-only parts.
 */
export const planOf = async (foundation: Foundation): Promise<ServerPlan> => {
  const { config, registrations, health, runner } = foundation
  const { registry, references, mux } = registrations
  const prometheus = config.metricsAddr === '' ? undefined : await loadPrometheus()
  const telemetry = await loadTelemetry(prometheus?.provider)
  addOperations(foundation)
  if (mux !== undefined) for (const register of registrations.gateway) await register(mux)
  const loaded = await loadMessageRules(registry.services(), registry, config.logger)
  const findings = await startUpFindings(foundation, loaded.problems)
  refuse(findings)
  for (const { resource, text } of findings.warnings) config.logger.warn({ resource }, text)
  for (const { target, fields } of references.unresolved())
    config.logger.warn(
      { target, fields },
      `fields refer to ${target}, which no registered service returns in batches: they are not resolved`,
    )
  const openCalls: Deadline[] = []
  const dispatch = dispatcherOf(foundation, telemetry, openCalls, loaded.rules)
  const unauthenticated = unauthenticatedBytes(config)
  const exactPaths = await connectPaths(mux, registry, config, dispatch, unauthenticated)
  const gateway = mux && newGateway(foundation, telemetry, dispatch, exactPaths, unauthenticated)
  gateway?.prepare()
  if (mux !== undefined) await describeApi(mux, registrations, config)
  return Object.freeze({
    config,
    services: registry.services(),
    dispatcher: dispatch,
    gateway,
    unauthenticated,
    telemetry,
    prometheus,
    health,
    runner,
    openCalls,
    externalTargets: [...references.external().values()],
  })
}

/**
 * Returns the counter of bytes of requests that are being received. Rejected requests are logged once a
 * minute.
 */
const unauthenticatedBytes = ({ limits, logger }: ResolvedConfig): UnauthenticatedBytes => {
  const { unauthenticatedBytes, maxTenantUnfinishedBytes } = limits
  const reported = (fields: object, message: string) => {
    let reportedAt = Number.NEGATIVE_INFINITY
    return () => {
      if (performance.now() - reportedAt < 60_000) return
      reportedAt = performance.now()
      logger.warn({ ...fields }, message)
    }
  }
  return new UnauthenticatedBytes(
    unauthenticatedBytes,
    reported(
      { unauthenticatedBytes },
      'unauthenticated requests use more than limits.unauthenticatedBytes: requests of the network that uses most are rejected',
    ),
    new UnfinishedBytes(
      maxTenantUnfinishedBytes,
      reported(
        { maxTenantUnfinishedBytes },
        'unfinished requests of a tenant use more than limits.maxTenantUnfinishedBytes: further requests are rejected',
      ),
    ),
  )
}

const dispatcherOf = (
  { config, registrations: { registry, references, rules }, runner }: Foundation,
  telemetry: Telemetry | undefined,
  openCalls: Deadline[],
  messageRules: MessageRules | undefined,
): Dispatcher => {
  const { resilience } = config
  const external = references.external()
  const parts = { external, redaction: registry, logger: config.logger, identity: identityHeaders(config) }
  const runOf = frameworkChain({
    ...config,
    ...resilience,
    identity: identityOf(config),
    rules,
    telemetry,
    redaction: registry,
    related: {
      relations: readableRelations(registry, rules),
      referencesOf: (desc) => showReferences(desc, parts),
      reader: new RelatedReader(rules, config.authorizer, config.limits.maxResponseBytes),
    },
    relatedLists: new RelatedLists(registry, rules, config.authorizer),
    sharedWrites: new Set(
      sharedWrites(registry.parts(), (path) => rules.declared(path)).map(({ method }) => method),
    ),
    otherReads: new OtherReads(registry, rules, config.authorizer),
    referenceDecisions: new ReferenceDecisions(registry, rules, config.authorizer),
    messageRules,
  }).around(({ handler }) => handler.run)
  const msOf = timeoutMsOf(config)
  const methods = [...registry.methods()].map(([desc, registered]) => {
    const { method } = registered
    return [desc, { method, timeoutMs: msOf(method), run: runOf(registered) }] as const
  })
  const batchFields = registry.batchFields()
  const mostIn = (field: DescField) => (batchFields.has(field) ? MAX_IN_BATCH : messageRules?.mostIn(field))
  return dispatcher(new Map(methods), runner, openCalls, {
    ...config.limits,
    uncountedBytes: uncountedBytes(config.limits.maxElements),
    mostIn,
    types: registryOf([...registry.methods().keys()]),
  })
}

/** Returns the headers that identify the caller if there is no authenticator. */
const identityHeaders = (config: ResolvedConfig): readonly string[] =>
  identityOf(config) === 'headers' ? IDENTITY_HEADERS : []

export const timeoutMsOf =
  ({ resilience }: ResolvedConfig) =>
  ({ path }: { readonly path: string }): number =>
    resilience.perMethodTimeoutMs.get(path) ?? resilience.requestTimeoutMs

const newGateway = (
  { config, registrations: { registry, references, mux }, health }: Foundation,
  telemetry: Telemetry | undefined,
  dispatch: Dispatcher,
  exactPaths: ExactPaths | undefined,
  unauthenticated: UnauthenticatedBytes,
): Gateway => {
  const proxied = proxiedMethods(references.external())
  return new Gateway(
    {
      ...config.gateway,
      logger: config.logger,
      onIgnoredMask: (method, paths) => {
        telemetry?.countIgnoredMask(pathOf(method).slice(1))
        config.gateway.onIgnoredMask?.(method, paths)
      },
      dispatcher: proxying(dispatch, proxied, {
        identity: identityHeaders(config),
        timeoutMsOf: timeoutMsOf(config),
        logger: config.logger,
      }),
      exactPaths,
      unauthenticated,
      methods: () => [...registry.services().flatMap(({ methods }) => methods), ...proxied.keys()],
      readiness: () => health.check(),
    },
    mux,
  )
}
