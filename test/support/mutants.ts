import { spawnSync } from 'node:child_process'
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compiled } from './root.js'

/**
 * Checks that the tests detect faults: `node dist/test/support/mutants.js [word]`. For each row, it puts one
 * fault into the compiled code, runs the tests that should fail, and removes the fault again. The last line
 * is `N killed, N survived`. It is not part of `npm test`; run the build before and after it.
 */
interface Mutant {
  readonly name: string
  /** The path below `lib`, without the extension. */
  readonly file: string
  readonly from: string
  readonly to: string
  /** The test files, in the form that `npm test -- …` accepts. */
  readonly tests: string
}

const builderMethods = [
  ...['authenticator', 'idempotencyStore', 'operationStore', 'tls', 'httpTls', 'reflection'].map((name) => [
    name,
    `return this.#set({ ${name} });`,
  ]),
  [
    'interceptors',
    'return this.#set({ interceptors: [...(this.#config.interceptors ?? []), ...interceptors] });',
  ],
  ['resilience', 'return this.#set({ resilience: { ...this.#config.resilience, ...resilience } });'],
  ['gateway', 'return this.#set({ gateway: { ...this.#config.gateway, ...gateway } });'],
  ['limits', 'return this.#set({ limits: { ...this.#config.limits, ...limits } });'],
] as const

const MUTANTS: readonly Mutant[] = [
  {
    name: 'a page may be as large as asked',
    file: 'persistence/contract/list-plan',
    from: 'Math.min(asked, MAX_PAGE_SIZE)',
    to: 'asked',
    tests: 'persistence/contract/list-plan',
  },
  {
    name: 'a purge ends after its first chunk',
    file: 'persistence/sql/typeorm-repository',
    from: 'if (chunk < PURGE_CHUNK)',
    to: 'if (true)',
    tests: 'persistence/sql/purge-chunks',
  },
  {
    name: 'an unknown credential costs nothing',
    file: 'persistence/contract/credential-check',
    from: 'await minter.verifyUnknown(',
    to: 'void (',
    tests: 'secrets/decoy',
  },
  {
    name: 'the body of a request that awaits 100 Continue is said to be known',
    file: 'gateway/gateway-call',
    from: "bound.body !== '*' && field.split('.', 1)[0] !== bound.body",
    to: "field.split('.', 1)[0] !== bound.body",
    tests: 'server/http/expect-continue',
  },
  {
    name: 'what returns with an undeleted row may refer to what is deleted',
    file: 'persistence/deletion/rules/undelete-with-children',
    from: 'for (const one of along)',
    to: 'for (const one of [])',
    tests: 'conformance/deletion.test',
  },
  {
    name: 'a deadline beyond the longest timer is over at once',
    file: 'server/chain/deadline',
    from: 'if (delay >= LONGEST_TIMER_MS)',
    to: 'if (delay === LONGEST_TIMER_MS)',
    tests: 'server/chain/deadline',
  },
  {
    name: 'a step with more time than the longest timer is over at once',
    file: 'server/chain/deadline',
    from: 'if (this.#stepMs >= LONGEST_TIMER_MS)',
    to: 'if (this.#stepMs === Infinity)',
    tests: 'server/chain/deadline',
  },
  {
    name: 'a request with more time than the longest timer is over at once',
    file: 'server/grpc/arrival',
    from: 'if (withinMs <= LONGEST_TIMER_MS)',
    to: 'if (withinMs !== Infinity)',
    tests: 'server/grpc/admission',
  },
  {
    name: 'grpc-js ends a call with more time than its timer',
    file: 'server/grpc/admission',
    from: 'later < 2 ** 31 - 1000',
    to: 'later < 2 ** 53',
    tests: 'server/grpc/admission',
  },
  {
    name: 'a call to another process with more time than the longest timer is over at once',
    file: 'server/references/proxying',
    from: 'Math.min(Math.max(0, this.#deadline - Date.now()), MAX_TIMER_MS)',
    to: 'Math.max(0, this.#deadline - Date.now())',
    tests: 'server/references/proxied-routes',
  },
  {
    name: 'Nest does not wait for running calls',
    file: 'nest/serving',
    from: 'await this.#served;',
    to: 'void this.#served;',
    tests: 'nest/module',
  },
  {
    name: 'a full update of a resource with IMMUTABLE fields drops new secrets',
    file: 'server/methods/mask/immutable-fields',
    from: '[...fields, ...given]',
    to: '[...fields]',
    tests: 'server/methods/mask/immutable-fields',
  },
  {
    name: 'a long development key is cut',
    file: 'secrets/dev-encryptor',
    from: 'bytes.length !== KEY_BYTES',
    to: 'bytes.length < KEY_BYTES',
    tests: 'secrets/decoy',
  },
  {
    name: 'a short development key is filled up',
    file: 'secrets/dev-encryptor',
    from: 'bytes.length !== KEY_BYTES',
    to: 'bytes.length > KEY_BYTES',
    tests: 'secrets/decoy',
  },
  ...['9', '11'].map((minutes) => ({
    name: `replies are kept for ${minutes} minutes`,
    file: 'server/idempotency/memory-idempotency-store',
    from: '10 * 60_000',
    to: `${minutes} * 60_000`,
    tests: 'lifecycle/time-limits',
  })),
  ...['3_599_999', '3_600_001'].map((ms) => ({
    name: `operations are kept for ${ms} ms`,
    file: 'server/operations/memory-operation-store',
    from: '3_600_000',
    to: ms,
    tests: 'lifecycle/time-limits',
  })),
  ...['4_999', '5_001'].map((ms) => ({
    name: `a shutdown takes ${ms} ms`,
    file: 'server/lifecycle/shutdown',
    from: '5_000',
    to: ms,
    tests: 'lifecycle/time-limits',
  })),
  ...['1_999', '2_001'].map((ms) => ({
    name: `a readiness check has ${ms} ms`,
    file: 'server/lifecycle/readiness',
    from: '2_000',
    to: ms,
    tests: 'lifecycle/time-limits',
  })),
  ...['4_999', '5_001'].map((ms) => ({
    name: `health is asked every ${ms} ms`,
    file: 'server/lifecycle/health',
    from: '5_000',
    to: ms,
    tests: 'lifecycle/time-limits',
  })),
  {
    name: 'writes keep the etag',
    file: 'persistence/contract/patch',
    from: 'values[model.etag.property] = newEtag()',
    to: 'void newEtag',
    tests: 'conformance/repository',
  },
  ...['deletionOf', 'restorationOf'].map((name) => ({
    name: `${name} keeps the etag`,
    file: 'persistence/contract/patch',
    from: `export const ${name} = (model, sources) => model.deleteTime === undefined\n    ? {}\n    : { ...serverSetValues(model, sources),`,
    to: `export const ${name} = (model, sources) => model.deleteTime === undefined\n    ? {}\n    : {`,
    tests: 'conformance/repository',
  })),
  {
    name: 'q is lost on its way to the repository',
    file: 'server/methods/resource-request',
    from: '...(has.q && {',
    to: '...(false && {',
    tests: 'server/methods/search-list',
  },
  {
    name: 'the uses of asSystem are not reported',
    file: 'context',
    from: 'known.add(resource);',
    to: 'return;',
    tests: 'observability/system-log',
  },
  {
    name: 'reads are deduplicated',
    file: 'server/interceptors/idempotency',
    from: "new Set(['get', 'list', 'watch'])",
    to: 'new Set()',
    tests: 'interceptors/idempotency',
  },
  {
    name: 'an address of another process is forgotten',
    file: 'server/server',
    from: 'recordExternalTarget(type, address)',
    to: 'recordExternalTarget(type)',
    tests: 'server/authz/start-up-check',
  },
  ...builderMethods.map(([name, from]) => ({
    name: `the builder forgets ${name}`,
    file: 'server/server-builder',
    from,
    to: 'return this;',
    tests: 'server/builder-methods',
  })),
  {
    name: 'the builder forgets grpcServer().add',
    file: 'server/server',
    from: 'void this.register(service, implementation)',
    to: 'void 0',
    tests: 'server/builder-methods',
  },
]

const words = process.argv.slice(2)
let killed = 0
const survived: string[] = []
const planted = MUTANTS.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)))
for (const tests of new Set(planted.map((mutant) => mutant.tests)))
  if (!passes(tests)) throw new TypeError(`${tests} fails without a fault: nothing can be learned from it`)
for (const mutant of planted) {
  if (dies(mutant)) killed++
  else survived.push(mutant.name)
}
for (const name of survived) console.log(`SURVIVED ${name}`)
console.log(`${killed} killed, ${survived.length} survived`)
process.exitCode = survived.length === 0 ? 0 : 1

function dies({ name, file, from, to, tests }: Mutant): boolean {
  const path = join(compiled, 'lib', `${file}.js`)
  const text = readFileSync(path, 'utf8')
  if (text.split(from).length !== 2) {
    console.log(
      `${name}: ${file} has the text to change ${text.split(from).length - 1} times instead of once`,
    )
    return false
  }
  const saved = `${path}.saved`
  copyFileSync(path, saved)
  try {
    writeFileSync(
      path,
      text.replace(from, () => to),
    )
    const survives = passes(tests)
    console.log(`${survives ? 'SURVIVED' : 'killed  '} ${name}`)
    return !survives
  } finally {
    copyFileSync(saved, path)
    rmSync(saved)
  }
}

function passes(tests: string): boolean {
  const { status } = spawnSync(
    process.execPath,
    [join(compiled, 'test', 'support', 'run.js'), ...tests.split(' ')],
    {
      stdio: 'ignore',
      env: { ...process.env, BACKENDS: 'memory,sqlite' },
    },
  )
  return status === 0
}
