import { expect } from 'chai'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './support/root.js'
import { projectFiles } from './support/source-files.js'
import { leftOut } from './support/summary.js'
import { surface } from './support/surface.js'

/** Where a name of the specification is to be found. */
type Carrier =
  | { readonly kind: 'export'; readonly entry: string; readonly name: string }
  | { readonly kind: 'member'; readonly entry: string; readonly of: string; readonly name: string }
  | { readonly kind: 'text'; readonly under: string; readonly text: string }
  | { readonly kind: 'file'; readonly path: string }

/** `pending`: a later step brings it. The test fails as soon as it is there, so that the row is moved along. */
type Row = readonly [name: string, carrier: Carrier, state?: 'pending']

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
const members = (
  entry: string,
  of: string,
  names: Readonly<Record<string, string>>,
  state?: 'pending',
): readonly Row[] =>
  Object.entries(names).map(([specified, name]) => [
    `${of}.${specified}`,
    member(entry, of, name),
    ...(state === undefined ? ([] as const) : ([state] as const)),
  ])

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
  ['LookupBy<Field>Hash', text('lib/persistence', 'lookupBy${'), 'pending'],
  ['Verify<Field>', text('lib/persistence', 'verify${'), 'pending'],
  ['the in-memory implementation', exported('persistence', 'MemoryRepository'), 'pending'],
  ['ErrNotFound', exported('persistence', 'ErrNotFound')],
  ['ErrConflict', exported('persistence', 'ErrConflict')],
  ['ErrPreconditionFailed', exported('persistence', 'ErrPreconditionFailed')],
  ['persistence: not found', text('lib/errors.ts', "'persistence: not found'")],
  ['persistence: conflict', text('lib/errors.ts', "'persistence: conflict'")],
  ['persistence: precondition failed', text('lib/errors.ts', "'persistence: precondition failed'")],
  ['ConstraintError', exported('persistence', 'constraintError'), 'pending'],
  ['<Msg>Columns', exported('persistence', 'columnsOf'), 'pending'],
  ['<Msg>EntJSONColumns', exported('persistence', 'jsonColumnsOf'), 'pending'],
  ['the filter parse helper', exported('persistence', 'parseFilter'), 'pending'],
  ['the order_by parse helper', exported('persistence', 'parseOrderBy'), 'pending'],
  ['the filter-predicate helper', exported('persistence', 'filterPredicate'), 'pending'],
  ['delete_time', text('decorators', "'delete_time'")],
  ['deleted_at', text('decorators', "'deleted_at'")],
  ['expire_time', text('decorators', "'expire_time'")],
  ['account_id', text('decorators', "'account_id'")],
  ['<field>_public_id', text('decorators/credential.ts', "'public_id'")],
  ['<field>_salt', text('decorators/credential.ts', "'salt'")],
  ['<field>_hash of a credential', text('decorators/credential.ts', "'hash'")],
  ['<field>_hashspec', text('decorators/credential.ts', "'hashspec'")],
  ['<field>_hash of a secret', text('decorators/secret.ts', "'hash'")],
  ['<field>_cipher', text('decorators/secret.ts', "'cipher'")],
  ['search_vector', text('lib', 'search_vector'), 'pending'],
  ['requires PostgreSQL', text('lib', 'requires PostgreSQL'), 'pending'],
  ['fsnotify://<driver>/<abs-path>', text('lib/persistence/dsn.ts', 'fsnotify:'), 'pending'],
]

const MIGRATIONS: readonly Row[] = [
  ...['postgres', 'mysql'].flatMap((dialect): readonly Row[] => [
    [
      `0001_framework_init.up.sql, ${dialect}`,
      file(`migrations/${dialect}/0001_framework_init.up.sql`),
      'pending',
    ],
    [
      `0001_framework_init.down.sql, ${dialect}`,
      file(`migrations/${dialect}/0001_framework_init.down.sql`),
      'pending',
    ],
    ...[
      'event_seq',
      'event_epoch',
      'tenant_fence',
      'tenant_event_seq',
      'tenant_event_policy',
      'outbox',
      'idempotency_markers',
    ].map((name): Row => [`${name}, ${dialect}`, text(`migrations/${dialect}`, name), 'pending']),
  ]),
  ['9001_<table>_search_vector.up.sql', text('lib/migrations', '_search_vector'), 'pending'],
  ['9002_<table>_search_gin.up.sql', text('lib/migrations', '_search_gin'), 'pending'],
  ['CREATE INDEX CONCURRENTLY', text('lib/migrations', 'CONCURRENTLY'), 'pending'],
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
  ['Config', exported('server', 'Config'), 'pending'],
  ...members(
    'server',
    'Config',
    {
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
    },
    'pending',
  ),
  ['DefaultGRPCAddr', exported('server', 'DefaultGRPCAddr'), 'pending'],
  ['NoTimeout', exported('server', 'NoTimeout'), 'pending'],
  ['ResilienceConfig', exported('server', 'ResilienceConfig'), 'pending'],
  ...members(
    'server',
    'ResilienceConfig',
    {
      RequestTimeout: 'requestTimeoutMs',
      PerMethodTimeout: 'perMethodTimeoutMs',
      RateLimiter: 'rateLimiter',
      CircuitBreaker: 'circuitBreaker',
    },
    'pending',
  ),
  ...members('server', 'HTTPHandler', { Pattern: 'pattern', Handler: 'handler' }, 'pending'),
  ...members(
    'server',
    'Grant',
    { Tenant: 'tenant', Subjects: 'subjects', Verbs: 'verbs', Resource: 'resource' },
    'pending',
  ),
  ['New(Config)', exported('server', 'ServerBuilder'), 'pending'],
  ...members(
    'server',
    'Server',
    {
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
    },
    'pending',
  ),
  ['account-id', text('lib/server', "'account-id'")],
  ['subject', text('lib/server', "'subject'")],
  ['groups', text('lib/server', "'groups'")],
  ['group:<name>', text('lib/server', 'group:')],
  ['/healthz', text('lib/gateway', '/healthz'), 'pending'],
  ['/readyz', text('lib/gateway', '/readyz'), 'pending'],
]

const COMMANDS: readonly Row[] = [
  ['idp clients sync', file('cli/commands/idp/clients/sync.ts'), 'pending'],
  ['--config', text('cli/commands/idp/clients/sync.ts', 'config: '), 'pending'],
  ['--out', text('cli/commands/idp/clients/sync.ts', 'out: '), 'pending'],
  ['idp-clients.yaml', text('cli', "'idp-clients.yaml'"), 'pending'],
  ['shell.yaml', text('cli', "'shell.yaml'"), 'pending'],
  ['GET /v1/routes', text('cli', '/v1/routes'), 'pending'],
  ['idp up', file('cli/commands/idp/up.ts'), 'pending'],
  ['--host', text('cli/commands/idp/up.ts', 'host: '), 'pending'],
  ['--port', text('cli/commands/idp/up.ts', 'port: '), 'pending'],
  ['--upstream', text('cli/commands/idp/up.ts', 'upstream: '), 'pending'],
  ['idp new', file('cli/commands/idp/new.ts'), 'pending'],
  ['--dir', text('cli/commands/idp/new.ts', 'dir: '), 'pending'],
  ['--emit', text('cli/commands/idp/new.ts', 'emit: '), 'pending'],
  ...[
    'client_id',
    'client_secret',
    'redirect_uris',
    'icon_url',
    'launch_url',
    'dev-secret-',
    '/callback',
  ].map((name): Row => [name, text('cli', name), 'pending']),
  ...['displayName', 'description', 'iconURL', 'launchURL'].map((name): Row => [
    name,
    text('cli', name),
    'pending',
  ]),
]

const LEDGER: Readonly<Record<string, readonly Row[]>> = {
  persistence: PERSISTENCE,
  migrations: MIGRATIONS,
  secrets: SECRETS,
  server: SERVER,
  'command line': COMMANDS,
}

describe('the names of the specification', () => {
  for (const [area, rows] of Object.entries(LEDGER)) {
    it(`${area}: each is where the ledger says`, () => {
      const absent = rows.filter(([, carrier, state]) => state === undefined && !isThere(carrier))
      expect(absent.map(([name, carrier]) => `${name}: not in ${JSON.stringify(carrier)}`)).to.deep.equal([])
    })

    it(`${area}: none is called pending that is there`, () => {
      const pending = rows.filter(([, , state]) => state === 'pending')
      if (pending.length > 0)
        leftOut(`names of ${area}`, `${pending.length} of ${rows.length} are still to come`)
      const arrived = pending.filter(([, carrier]) => isThere(carrier))
      expect(arrived.map(([name]) => `${name}: is there, so its row is pending no longer`)).to.deep.equal([])
    })
  }

  it('has no batchCreate anywhere', () => {
    for (const [entry, name] of surface().entries.flatMap((entry) =>
      surface()
        .exportsOf(entry)
        .map(({ name }) => [entry, name] as const),
    ))
      expect(surface().membersOf(entry, name), `${name} of ${entry}`).to.not.include('batchCreate')
    expect(textUnder('lib')).to.not.match(/\bbatchCreate\b/i)
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
      return textUnder(carrier.under).includes(carrier.text)
    case 'file':
      return existsSync(join(root, carrier.path))
  }
}

/** Everything that is written in a file or under a folder, generated code aside; empty where there is nothing yet. */
function textUnder(path: string): string {
  if (!existsSync(join(root, path))) return ''
  const isFile = /\.[a-z]+$/.test(path)
  const files = isFile ? [path] : projectFiles(path).filter((one) => !one.includes('/gen/'))
  return files.map((one) => readFileSync(join(root, one), 'utf8')).join('\n')
}
