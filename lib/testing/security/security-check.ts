import {
  type Authorizer,
  type Config,
  devAuthorizer,
  devPrincipal,
  type Server,
  type ServerBuilder,
} from '../../server/index.js'
import type { Principal } from '../../context.js'
import { servedMethods } from '../../server/served-methods.js'
import { captureLogs, type CapturedLogs } from '../harness/captured-logs.js'
import { inProcess, serving } from '../harness/test-server.js'
import { type TestPrincipal, principalHeaders } from '../harness/principal-headers.js'
import { Canaries, newCanary } from './leaks/canary.js'
import { type Tenants, tenantsOf } from './world/tenants.js'
import { checkDeclarations } from './declarations.js'
import { checkDenial, checkSharedWrites, checkSilence, type Stranger } from './denial.js'
import { grpcListenerClient, type Headers, httpListenerClient } from './wire/listener-clients.js'
import { checkHostileInput } from './hostile-input.js'
import { checkIsolation, leaveUnchecked } from './isolation.js'
import { checkRowIsolation, type RowReach } from './row-isolation.js'
import { checkRowRequests } from './row-requests.js'
import { checkEffects } from './effects.js'
import { checkOperations, isOfOperations } from './own-operations.js'
import { captureOutput } from './leaks/output.js'
import { checkSecrecy } from './own-calls.js'
import { checkPreparations, type Preparations, preparing } from './world/prepare.js'
import { Probe } from './world/probe.js'
import { type Accepted, Findings, type SecurityReport } from './world/report.js'
import { checkSamples, type Samples } from './world/samples.js'
import { mayName } from './made-up-requests.js'
import { ownWrites } from './own-variants.js'
import { checkOwnRequests, checkRequests, ownRequestsOf, type Requests } from './own-requests.js'
import { type Subject, subjectsOf } from './world/subjects.js'
import { makeParents, makeRow, newText, type World } from './world/world.js'

/** Options of `securityCheck`. */
export interface SecurityOptions {
  /**
   * Full names of methods that are intended to be public. Any other public method is a finding, except health
   * and reflection.
   */
  readonly publicMethods?: readonly string[]
  /** Full names of methods that every authenticated caller may call. */
  readonly openMethods?: readonly string[]
  /**
   * Full names of methods with which callers of every tenant may write rows of all tenants (`shared: true`).
   */
  readonly sharedWrites?: readonly string[]
  /** Full names of fields, as `package.Message.field`, that look like secrets but are not. */
  readonly plainFields?: readonly string[]
  /**
   * Values for a resource that rejects generated ones, by the full name of its message. `n` differs each
   * time. Other fields still receive generated values, and references still refer to resources of the check.
   */
  readonly samples?: Samples
  /**
   * Requests for custom methods that reject generated ones, by full gRPC method name: `{
   * '/orders.v1.OrderService/PlaceOrder': (key) => ({ customerId: key('orders.v1.Customer') }) }`. A method
   * without a working request is listed in `notChecked`.
   */
  readonly requests?: Requests
  /**
   * Functions that create the state a method or resource needs, by full gRPC method name or by the full name
   * of the resource's message: `{ '/orders.v1.OrderService/Ship': ({ client, keys: [id] }) =>
   * client(OrderService).pay({ id }) }`. A method's function runs before each request that names resources of
   * a tenant. A resource's function runs before the check creates one.
   */
  readonly prepare?: Preparations
  /** If true, starts the workers of a builder (relays and consumers). Default: false. */
  readonly startWorkers?: boolean
  /**
   * Methods that the check must not call, by full gRPC method name, with the reason. Only their declarations
   * and their denial are checked, and they are listed in `notChecked`. If a Create is excluded, its resources
   * are created through the repository.
   */
  readonly leaveOut?: Readonly<Record<string, string>>
  /**
   * Accepted findings by full gRPC method name and complete text, with the reason: `{
   * '/orders.v1.OrderService/GetTotal': { 'what it returns in total depends on …': 'a stored sum' } }`. They
   * are reported in `accepted` instead of `findings`. Other checks of the method still apply.
   */
  readonly accept?: Accepted
  /**
   * The subject and groups of the caller in each of the two tenants. A builder's authorizer is bypassed for
   * them; a server must grant them everything.
   */
  readonly as?: Pick<TestPrincipal, 'subject' | 'groups'>
  /**
   * The two tenants, for a foreign key that needs their rows. Default: generated values of the column's type.
   */
  readonly tenants?: readonly [string, string]
  /**
   * Returns the headers that identify a principal, for a server that does not read `account-id`, `subject`
   * and `groups`.
   */
  readonly headersOf?: (principal: Required<TestPrincipal>) => Headers | Promise<Headers>
  /** The captured log of a server. A builder's log is always captured. */
  readonly logs?: Pick<CapturedLogs, 'text'>
}

/**
 * Checks a service as an attacker would: first its declarations, then by calling a server in this process
 * through both listeners. For a builder, the check uses two tenants, each with a caller who may do
 * everything; its authorizer decides about all other callers. A server is checked as it was built. The check
 * writes and deletes rows, so give it a separate database.
 * @returns a report with every finding. `passed` is true if there is none.
 * @example
 * ```ts
 * import type { ServerBuilder } from 'ashlar'
 * import { securityCheck } from 'ashlar/testing'
 *
 * export async function isSafe(builder: ServerBuilder): Promise<void> {
 *   const { passed, findings } = await securityCheck(builder)
 *   if (!passed) throw new TypeError(findings.map(({ method, text }) => `${method}: ${text}`).join('\n'))
 * }
 * ```
 */
export async function securityCheck(
  source: ServerBuilder | Server,
  options: SecurityOptions = {},
): Promise<SecurityReport> {
  const logs = captureLogs('debug')
  const run = newRun(options)
  const server = 'build' in source ? source.build((configured) => checked(configured, logs, run)) : source
  const methods = servedMethods(server)
  const { publicMethods = [], plainFields = [], requests = {}, leaveOut = {}, accept = {} } = options
  checkAccepted(methods, accept)
  const findings = new Findings(accept)
  const subjects = subjectsOf(methods, (path) => Object.hasOwn(leaveOut, path))
  run.tenants = tenantsOf(subjects, options.tenants)
  checkRequests(methods, requests)
  checkPreparations(options.prepare ?? {}, methods, subjects)
  checkSamples(subjects, options.samples ?? {})
  leaveOutNamed(methods, findings, leaveOut, requests)
  checkDeclarations(server, methods, subjects, findings, { publicMethods, plainFields })
  const facts = { methods: methods.length, calls: 0 }
  if (findings.report(facts).findings.some(({ check }) => check === 'rule' || check === 'template'))
    return findings.report(facts)

  const output = captureOutput()
  try {
    facts.calls = await checkServing(server, logs, { run, options, findings, subjects })
  } finally {
    output.stop()
  }
  if (run.secrets.isIn([logs.text(), options.logs?.text() ?? '', output.text()].join('\n')))
    findings.add('secret', '', 'a secret or a token is in what the service logs or prints')
  return findings.report(facts)
}

interface Run {
  /** A caller of the first tenant who may access some rows, if the authorizer uses row-level decisions. */
  readonly limited: string
  readonly reach: RowReach & { isOn: boolean }
  tenants: Tenants
  readonly subject: string
  readonly secrets: Canaries
  readonly options: SecurityOptions
}

const newRun = (options: SecurityOptions): Run => ({
  ...{ limited: newCanary('limited-'), reach: { isOn: false, where: undefined } },
  tenants: { two: ['', ''], another: newCanary, areMadeUp: true },
  subject: options.as?.subject ?? newCanary('security-check-'),
  secrets: new Canaries(),
  options,
})

/** Returns the configuration of a builder's server, open to the two callers and without rate limits. */
const checked = (configured: Config, logs: CapturedLogs, run: Run): Config => {
  const {
    rateLimiter: _rateLimiter,
    circuitBreaker: _circuitBreaker,
    ...resilience
  } = configured.resilience ?? {}
  const own: Authorizer = configured.authorizer ?? devAuthorizer()
  const byRow = own.decidesByRow === true
  run.reach.isOn = byRow
  const isOurs = ({ subject, tenant }: Principal) =>
    subject === run.subject && run.tenants.two.includes(tenant)
  const isLimited = ({ subject, tenant }: Principal) =>
    subject === run.limited && tenant === run.tenants.two[0]
  const authorizer: Authorizer = {
    decidesByRow: byRow,
    authorize: (request) => {
      if (isOurs(request.principal)) return true
      if (!byRow || !isLimited(request.principal)) return own.authorize(request)
      const { where: held } = run.reach
      if (held === undefined) return false
      const where = held.get(request.type)
      return where === undefined || { where }
    },
    startUpCheck: (server) => own.startUpCheck?.(server) ?? [],
    close: (server) => own.close?.(server),
  }
  const { authenticator, principalFunc } = configured
  const who =
    run.options.headersOf === undefined
      ? { principalFunc: devPrincipal }
      : { ...(authenticator && { authenticator }), ...(principalFunc && { principalFunc }) }
  const workers = run.options.startWorkers === true ? (configured.workers ?? []) : []
  return { ...inProcess(configured, logs), ...who, resilience, authorizer, workers }
}

interface Serving {
  readonly run: Run
  readonly options: SecurityOptions
  readonly findings: Findings
  readonly subjects: readonly Subject[]
}

/** @returns the number of calls. */
const checkServing = async (
  server: Server,
  logs: CapturedLogs,
  { run, options, findings, subjects }: Serving,
): Promise<number> => {
  const { subject, secrets } = run
  const { two: tenants, another: newTenant, areMadeUp } = run.tenants
  const headersOf = (principal: TestPrincipal): Headers | Promise<Headers> =>
    options.headersOf === undefined
      ? principalHeaders(principal).headers
      : options.headersOf({ subject: '', tenant: '', groups: [], ...principal })
  const running = await serving(server, logs)
  const listeners = [
    grpcListenerClient(running.grpcAddress),
    ...(running.url === '' ? [] : [httpListenerClient(running.url)]),
  ]
  const probe = new Probe(listeners, findings, subjects, secrets)
  try {
    const groups = options.as?.groups ?? []
    const [ours, theirs] = [newText(), newText()]
    const world: World = {
      probe,
      a: {
        tenant: tenants[0],
        text: ours.text,
        ...{ targets: new Map(), parents: new Map() },
        headers: await headersOf({ subject, groups, tenant: tenants[0] }),
        mustNotSee: theirs.canaries,
      },
      b: {
        tenant: tenants[1],
        text: theirs.text,
        ...{ targets: new Map(), parents: new Map() },
        headers: await headersOf({ subject, groups, tenant: tenants[1] }),
        mustNotSee: ours.canaries,
      },
      ...{ samples: options.samples ?? {}, areTenantsMadeUp: areMadeUp },
      subjects,
      secret: secrets.plant(newCanary('hush')),
      ...{ sharedText: newCanary('s'), madeUp: new Map() },
      apart: new Set(),
      prepare: preparing(options.prepare ?? {}, running),
    }
    const unknown = newCanary('unknown-')
    const strangers: readonly Stranger[] = [
      { who: 'nobody', headers: {}, isAnonymous: true },
      ...(await Promise.all(
        [newTenant('nowhere-'), tenants[0]].map(async (tenant) => ({
          who: 'a caller without any grant',
          headers: await headersOf({ subject: unknown, tenant }),
          isAnonymous: false,
        })),
      )),
    ]
    const methods = servedMethods(server)
    await checkDenial(world, methods, strangers, options.openMethods ?? [])
    if (options.as !== undefined) {
      const tenant = newTenant('nowhere-')
      const headers = await headersOf({ subject: options.as.subject ?? unknown, groups, tenant })
      const meant = options.sharedWrites ?? []
      const asked = methods.filter(({ path, writesShared }) => writesShared && !meant.includes(path))
      await checkSharedWrites(world, asked, headers)
    }
    await makeParents(world)
    for (const one of subjects) await checkSubject(world, one, strangers)
    const { requests = {}, leaveOut = {} } = options
    leaveOutShared(methods, findings, options)
    const own = ownRequestsOf(methods, world, requests, (path) => Object.hasOwn(leaveOut, path))
    const done = await checkOwnRequests(world, own)
    if (run.reach.isOn) {
      const headers = await headersOf({ subject: run.limited, groups, tenant: tenants[0] })
      const limited = { caller: { headers, mustNotSee: theirs.canaries }, reach: run.reach }
      for (const one of subjects) await checkRowIsolation(world, one, limited)
      for (const { naming } of done) await checkRowRequests(world, naming, limited)
    }
    const known = own.filter(({ isPlain, method }) => !isPlain || !mayName(method.desc.input))
    const asked = known.map(({ method }) => method.path)
    const called = methods.filter(({ path }) => !Object.hasOwn(leaveOut, path))
    await checkOperations(world, called)
    await checkEffects(world, [...done.flatMap(({ varied }) => varied), ...(await ownWrites(world, called))])
    leaveOutOthers(methods, subjects, findings, [...asked, ...Object.keys(leaveOut)])
    return probe.calls
  } finally {
    for (const listener of listeners) listener.close()
    await running.stop()
  }
}

const checkSubject = async (
  world: World,
  subject: Subject,
  strangers: readonly Stranger[],
): Promise<void> => {
  if (subject.isTenants) await checkIsolation(world, subject)
  const row = await makeRow(world, subject, world.a)
  if (typeof row === 'string') return leaveUnchecked(world, subject, row)
  await checkSilence(world, subject, row, strangers)
  await checkHostileInput(world, subject, row)
  // An earlier method may have deleted the row.
  const own = await makeRow(world, subject, world.a)
  if (typeof own === 'string') return leaveUnchecked(world, subject, own)
  await checkSecrecy(world, subject, own)
}

/** @throws TypeError for an unknown method, or a method that also has a request. */
const leaveOutNamed = (
  methods: ReturnType<typeof servedMethods>,
  findings: Findings,
  leaveOut: Readonly<Record<string, string>>,
  requests: Requests,
): void => {
  for (const [path, reason] of Object.entries(leaveOut)) {
    if (!methods.some((method) => method.path === path))
      throw new TypeError(`leaveOut: ${path} is not a method of the server, such as /package.Service/Method`)
    if (Object.hasOwn(requests, path)) throw new TypeError(`leaveOut: ${path} has a function in requests`)
    findings.leaveOut(path, `left out by the options: ${reason}; only its denial was checked`)
  }
}

/** @throws TypeError for an unknown method, and for a finding without a reason. */
const checkAccepted = (methods: ReturnType<typeof servedMethods>, accept: Accepted): void => {
  for (const [path, reasons] of Object.entries(accept)) {
    if (!methods.some((method) => method.path === path))
      throw new TypeError(`accept: the server has no method ${path}, such as /package.Service/Method`)
    for (const [text, reason] of Object.entries(reasons))
      if (reason.trim() === '') throw new TypeError(`accept: ${path} has no reason for "${text}"`)
  }
}

/**
 * Reports resources with rows of all tenants, which need no isolation. Only the options can state who may
 * write them.
 */
const leaveOutShared = (
  methods: ReturnType<typeof servedMethods>,
  findings: Findings,
  { as, sharedWrites = [] }: SecurityOptions,
): void => {
  for (const { path, writesShared } of methods)
    if (writesShared && as === undefined && !sharedWrites.includes(path))
      findings.leaveOut(
        path,
        'whether callers of any tenant can write shared resources: give `as`, or name the method in `sharedWrites`',
      )
}

/** Reports methods for which no request could be generated. */
const leaveOutOthers = (
  methods: ReturnType<typeof servedMethods>,
  subjects: readonly Subject[],
  findings: Findings,
  named: readonly string[],
): void => {
  const made = new Set([
    ...named,
    ...subjects
      .flatMap((subject) => subject.methods.filter(({ standard }) => standard !== undefined))
      .map(({ path }) => path),
  ])
  for (const method of methods) {
    const { path, rule, differs, resource, desc } = method
    if (made.has(path) || /^\/grpc\./.test(path) || isOfOperations(method)) continue
    const checked = rule?.public === true ? 'it is public' : 'only its denial was checked'
    const why =
      desc.methodKind === 'unary'
        ? `no request can be generated, because ${differs === '' ? `${resource?.name ?? 'its resource'} has no field id or name` : differs}: give \`requests\` for ${path}`
        : 'it is a stream, which the check does not read'
    findings.leaveOut(path, `${why}; ${checked}`)
  }
}
