import { expect } from 'chai'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './support/root.js'
import { projectFiles } from './support/sources/source-files.js'
import { surface } from './support/sources/surface.js'

/** Where a name of the specification is to be found. */
type Carrier =
  | { readonly kind: 'export'; readonly entry: string; readonly name: string }
  | { readonly kind: 'member'; readonly entry: string; readonly of: string; readonly name: string }
  | { readonly kind: 'text'; readonly under: string; readonly text: string }
  | { readonly kind: 'file'; readonly path: string }

type Row = readonly [name: string, carrier: Carrier]

const DIALECTS = ['postgres', 'mysql']
const BASELINE_FILES = ['0001_framework_init.up.sql', '0001_framework_init.down.sql']
const BASELINE_NAMES = [
  ...['outbox', 'event_seq', 'event_epoch', 'idempotency_markers'],
  ...['tenant_fence', 'tenant_event_seq', 'tenant_event_policy'],
]

const exported = (entry: string, name: string): Carrier => ({
  kind: 'export',
  entry: `ashlar/${entry}`,
  name,
})
const member = (entry: string, of: string, name: string): Carrier => ({
  kind: 'member',
  entry: `ashlar/${entry}`,
  of,
  name,
})
const text = (under: string, says: string): Carrier => ({ kind: 'text', under, text: says })
const file = (path: string): Carrier => ({ kind: 'file', path })
const members = (entry: string, of: string, names: Readonly<Record<string, string>>): readonly Row[] =>
  Object.entries(names).map(([specified, name]) => [`${of}.${specified}`, member(entry, of, name)])

const PERSISTENCE: readonly Row[] = [
  ['ListOptions', exported('persistence', 'ListOptions')],
  ...members('persistence', 'ListOptions', {
    Filter: 'filter',
    OrderBy: 'orderBy',
    PageSize: 'pageSize',
    PageToken: 'pageToken',
    ShowDeleted: 'showDeleted',
    Search: 'search',
  }),
  ['BatchUpdateItem', exported('persistence', 'BatchUpdateItem')],
  ...members('persistence', 'BatchUpdateItem', { Key: 'key', Entity: 'entity', FieldMask: 'fieldMask' }),
  ...members('persistence', 'Repository', {
    Get: 'get',
    List: 'list',
    Create: 'create',
    Update: 'update',
    Delete: 'delete',
    Undelete: 'undelete',
    BatchGet: 'batchGet',
    BatchUpdate: 'batchUpdate',
    BatchDelete: 'batchDelete',
    PurgeExpired: 'purgeExpired',
  }),
  ['LookupBy<Field>Hash', text('lib/persistence', 'lookupBy${')],
  ['Verify<Field>', text('lib/persistence', 'verify${')],
  ['the in-memory implementation', exported('persistence', 'MemoryRepository')],
  ['ErrNotFound', exported('persistence', 'ErrNotFound')],
  ['ErrConflict', exported('persistence', 'ErrConflict')],
  ['ErrPreconditionFailed', exported('persistence', 'ErrPreconditionFailed')],
  ['persistence: not found', text('lib/errors.ts', "'persistence: not found'")],
  ['persistence: conflict', text('lib/errors.ts', "'persistence: conflict'")],
  ['persistence: precondition failed', text('lib/errors.ts', "'persistence: precondition failed'")],
  ['ConstraintError', exported('persistence', 'constraintError')],
  ['<Msg>Columns', exported('persistence', 'columnsOf')],
  ['<Msg>EntJSONColumns', exported('persistence', 'jsonColumnsOf')],
  ['the filter parse helper', exported('persistence', 'parseFilter')],
  ['the order_by parse helper', exported('persistence', 'parseOrderBy')],
  ['the filter-predicate helper', exported('persistence', 'filterPredicate')],
  ['delete_time', text('decorators', "'delete_time'")],
  ['deleted_at', text('decorators', "'deleted_at'")],
  ['expire_time', text('decorators', "'expire_time'")],
  ['account_id', text('decorators', "'account_id'")],
  ['<field>_public_id', text('decorators/columns/secret-columns.ts', "'public_id'")],
  ['<field>_salt', text('decorators/columns/secret-columns.ts', "'salt'")],
  ['<field>_hash of a credential', text('decorators/columns/secret-columns.ts', "'hash'")],
  ['<field>_hashspec', text('decorators/columns/secret-columns.ts', "'hashspec'")],
  ['<field>_hash of a secret', text('decorators/columns/secret-columns.ts', "'hash'")],
  ['<field>_cipher', text('decorators/columns/secret-columns.ts', "'cipher'")],
  ['search_vector', text('lib', 'search_vector')],
  ['requires PostgreSQL', text('lib', 'requires PostgreSQL')],
  ['fsnotify://<driver>/<abs-path>', text('lib/persistence/hot-reload/dsn.ts', 'fsnotify:')],
]

const MIGRATIONS: readonly Row[] = [
  ...DIALECTS.flatMap((dialect): readonly Row[] => [
    ...BASELINE_FILES.map((name): Row => [`${name}, ${dialect}`, file(`migrations/${dialect}/${name}`)]),
    ...BASELINE_NAMES.map((name): Row => [`${name}, ${dialect}`, text(`migrations/${dialect}`, name)]),
  ]),
  ['9001_<table>_search_vector.up.sql', text('lib/migrations', '_search_vector')],
  ['9002_<table>_search_gin.up.sql', text('lib/migrations', '_search_gin')],
  ['CREATE INDEX CONCURRENTLY', text('lib/migrations', 'CONCURRENTLY')],
]

const SECRETS: readonly Row[] = [
  ['HashSpec', exported('secrets', 'HashSpec')],
  ...members('secrets', 'HashSpec', { Algo: 'algo' }),
  ['StoredCredential', exported('secrets', 'StoredCredential')],
  ...members('secrets', 'StoredCredential', {
    PublicID: 'publicId',
    Salt: 'salt',
    Hash: 'hash',
    Spec: 'spec',
  }),
  ['CredentialMinter', exported('secrets', 'CredentialMinter')],
  ...members('secrets', 'CredentialMinter', {
    Prefix: 'prefix',
    Spec: 'spec',
    SecretBits: 'secretBits',
    Mint: 'mint',
    Parse: 'parse',
    Verify: 'verify',
  }),
  ['AlgoSHA512_256', exported('secrets', 'AlgoSHA512_256')],
  ['AlgoSHA384', exported('secrets', 'AlgoSHA384')],
  ['pbkdf2-sha256:<iters>:<keylen>', text('lib/secrets/hash-spec.ts', 'pbkdf2-sha256:')],
  ['DefaultPrefix', exported('secrets', 'DefaultPrefix')],
  ['DefaultSecretBits', exported('secrets', 'DefaultSecretBits')],
  ['ErrNoMinter', exported('secrets', 'ErrNoMinter')],
  ['ErrNoEncryptor', exported('secrets', 'ErrNoEncryptor')],
  ...members('secrets', 'Encryptor', { Encrypt: 'encrypt', Decrypt: 'decrypt', Hash: 'hash' }),
  ['NewDev', exported('secrets', 'newDev')],
  ['NewVaultTransit', exported('secrets', 'newVaultTransit')],
  ['Rewrap', text('lib/secrets', 'rewrap')],
]

const SERVER: readonly Row[] = [
  ['Config', exported('server', 'Config')],
  ...members('server', 'Config', {
    GRPCAddr: 'grpcAddr',
    HTTPAddr: 'httpAddr',
    Rules: 'rules',
    Authorizer: 'authorizer',
    PrincipalFunc: 'principalFunc',
    Authenticator: 'authenticator',
    Interceptors: 'interceptors',
    HTTPHandlers: 'httpHandlers',
    DeduplicationStore: 'deduplicationStore',
    LROStore: 'lroStore',
    Logger: 'logger',
    ReadinessChecks: 'readinessChecks',
    Resilience: 'resilience',
  }),
  ['DefaultGRPCAddr', exported('server', 'DefaultGRPCAddr')],
  ['NoTimeout', exported('server', 'NoTimeout')],
  ['ResilienceConfig', exported('server', 'ResilienceConfig')],
  ...members('server', 'ResilienceConfig', {
    RequestTimeout: 'requestTimeoutMs',
    PerMethodTimeout: 'perMethodTimeoutMs',
    RateLimiter: 'rateLimiter',
    CircuitBreaker: 'circuitBreaker',
  }),
  ...members('server', 'HTTPHandler', { Pattern: 'pattern', Handler: 'handler' }),
  ...members('server', 'Grant', {
    Tenant: 'tenant',
    Subjects: 'subjects',
    Verbs: 'verbs',
    Resource: 'resource',
  }),
  ['New(Config)', exported('server', 'ServerBuilder')],
  ...members('server', 'Server', {
    Serve: 'serve',
    GRPCServer: 'grpcServer',
    RegisterGateway: 'registerGateway',
    AddRules: 'addRules',
    RecordMethods: 'recordMethods',
    GatewayMux: 'gatewayMux',
    Rules: 'rules',
    GRPCAddr: 'grpcAddr',
    HTTPAddr: 'httpAddr',
    RecordReferences: 'recordReferences',
    RecordBatchTarget: 'recordBatchTarget',
    RecordExternalReferenceTarget: 'recordExternalReferenceTarget',
    References: 'references',
  }),
  ['account-id', text('lib/server', "'account-id'")],
  ['subject', text('lib/server', "'subject'")],
  ['groups', text('lib/server', "'groups'")],
  ['group:<name>', text('lib/server', 'group:')],
  ['/healthz', text('lib/gateway', '/healthz')],
  ['/readyz', text('lib/gateway', '/readyz')],
]

const COMMANDS: readonly Row[] = [
  ['idp clients sync', file('cli/commands/idp/clients/sync.ts')],
  ['--config', text('cli/commands/idp/clients/sync.ts', 'config: ')],
  ['--out', text('cli/commands/idp/clients/sync.ts', 'out: ')],
  ['idp-clients.yaml', text('cli', "'idp-clients.yaml'")],
  ['shell.yaml', text('cli', "'shell.yaml'")],
  ['GET /v1/routes', text('cli', '/v1/routes')],
  ['idp up', file('cli/commands/idp/up.ts')],
  ['--host', text('cli/commands/idp/up.ts', 'host: ')],
  ['--port', text('cli/commands/idp/up.ts', 'port: ')],
  ['--upstream', text('cli/commands/idp/up.ts', 'upstream: ')],
  ['idp new', file('cli/commands/idp/new.ts')],
  ['--dir', text('cli/commands/idp/new.ts', 'dir: ')],
  ['--emit', text('cli/commands/idp/new.ts', 'emit: ')],
  ...[
    'client_id',
    'client_secret',
    'redirect_uris',
    'icon_url',
    'launch_url',
    'dev-secret-',
    '/callback',
  ].map((name): Row => [name, text('cli', name)]),
  ...['displayName', 'description', 'iconURL', 'launchURL'].map((name): Row => [name, text('cli', name)]),
]

const LEDGER: Readonly<Record<string, readonly Row[]>> = {
  persistence: PERSISTENCE,
  migrations: MIGRATIONS,
  secrets: SECRETS,
  server: SERVER,
  'command line': COMMANDS,
}

describe('the names of the specification', () => {
  for (const [area, rows] of Object.entries(LEDGER))
    it(`${area}: each is where the ledger says`, () => {
      const absent = rows.filter(([, carrier]) => !isThere(carrier))
      expect(absent.map(([name, carrier]) => `${name}: not in ${JSON.stringify(carrier)}`)).to.deep.equal([])
    })

  for (const [what, carrier] of [
    ['an export', exported('persistence', 'NoSuchName')],
    ['an export of another entry', exported('secrets', 'ListOptions')],
    ['a member', member('persistence', 'Repository', 'noSuchMember')],
    ['a member of a type', member('persistence', 'NoSuchName', 'get')],
    ['a text', text('lib/errors.ts', 'no such text')],
    ['a text in a file', text('lib/no-such-file.ts', '')],
    ['a file', file('lib/no-such-file.ts')],
  ] as const)
    it(`misses ${what} that is not there`, () => {
      expect(isThere(carrier)).to.equal(false)
    })

  it('has no batchCreate anywhere', () => {
    const { entries, exportsOf, membersOf } = surface()
    const members = entries.flatMap((entry) =>
      exportsOf(entry).flatMap(({ name }) => membersOf(entry, name).map((one) => `${entry} ${name} ${one}`)),
    )
    expect(members).to.include('ashlar/persistence Repository batchUpdate')
    expect(members.filter((one) => /batchCreate/i.test(one))).to.deep.equal([])
    const written = textUnder('lib')
    expect(written).to.match(/\bbatchUpdate\b/)
    expect(written).to.not.match(/\bbatchCreate\b/i)
  })
})

function isThere(carrier: Carrier): boolean {
  switch (carrier.kind) {
    case 'export':
      return surface()
        .exportsOf(carrier.entry)
        .some(({ name }) => name === carrier.name)
    case 'member':
      return surface().membersOf(carrier.entry, carrier.of).includes(carrier.name)
    case 'text':
      return existsSync(join(root, carrier.under)) && textUnder(carrier.under).includes(carrier.text)
    case 'file':
      return existsSync(join(root, carrier.path))
  }
}

/** Everything that is written in a file or under a folder, generated code aside. */
function textUnder(path: string): string {
  const isFile = /\.[a-z]+$/.test(path)
  const files = isFile ? [path] : projectFiles(path).filter((one) => !one.includes('/gen/'))
  return files.map((one) => readFileSync(join(root, one), 'utf8')).join('\n')
}
