import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../root.js'
import { widgetSources } from '../sources/widget-sources.js'

/**
 * Returns the sources of an application: the widgets example in a Nest application, and its tests. `main.ts`
 * starts the application, creates a widget over HTTP, prints the status, and exits.
 * @param extension - the extension in imports of the application's own files and of generated code.
 */
export function sourcesOf(extension: '' | '.js'): Readonly<Record<string, string>> {
  const sources = Object.fromEntries(
    [...widgetSources()]
      .filter(([file]) => !/tour|main|schema/.test(file))
      .map(([file, text]) => [`src/${file}`, text]),
  )
  const all = { ...sources, 'src/main.ts': MAIN, 'src/widgets.test.ts': TEST, 'src/nest.test.ts': NEST_TEST }
  return Object.fromEntries(
    Object.entries(all).map(([file, text]) => [
      file,
      text.replaceAll(
        /((?:from |import )["'](?:\.|ashlar-annotations)[^"']*)\.js(["'])/g,
        `$1${extension}$2`,
      ),
    ]),
  )
}

/**
 * An up migration in TypeScript with types that Node.js cannot strip, and a test that loads it. If `url` is a
 * database URL, the test also applies the migration.
 */
export const MIGRATIONS = {
  'migrations/postgres/0002_t.up.sql': `CREATE TABLE t (id int PRIMARY KEY, a text, b text);
    INSERT INTO t VALUES (1, 'foot');`,
  'migrations/postgres/0002_t.down.sql': 'DROP TABLE t;',
  'migrations/postgres/0003_fill.up.ts': `import { backfill } from 'ashlar/migrations'
    enum Side { Left = 'left' }
    export default backfill({ table: 't', reads: ['a'], sets: ['b'], row: ({ a }) => ({ b: Side.Left + String(a) }) })`,
  'migrations/postgres/0003_fill.down.sql': '-- the column stays\n',
  'migrations/postgres/0004_is_filled.up.sql': "DO $$ BEGIN ASSERT (SELECT b FROM t) = 'leftfoot'; END $$;",
  'migrations/postgres/0004_is_filled.down.sql': '-- nothing was changed\n',
  'src/database.ts': 'export const url: string | undefined = undefined',
  'src/migrations.ts': `import { lintFiles, migrate } from 'ashlar/migrations'
    const files = __dirname + '/../migrations'
    export const problems = () => lintFiles(files, 'postgres')
    export const migrator = (url: string) => migrate({ url, files, schema: 'of_' + process.pid })`,
  'src/migrations.test.ts': `import { url } from './database'
    import { migrator, problems } from './migrations'
    it('reads an up migration that is code', async () => { await problems() })
    if (url !== undefined)
      it('applies it', async () => {
        await migrator(url!).up()
        expect(await migrator(url!).verify()).toEqual([])
      })`,
  'src/read-migrations.ts': `import { problems } from './migrations'
    void problems().then(() => console.log('read'))`,
}

/** Returns a module that imports each entry point of the packages, in each form that they export. */
export function entriesSource(): string {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly exports: object
  }
  const entries = Object.keys(exports)
    .filter((entry) => entry !== './package.json')
    .map((entry) => entry.replace('.', 'ashlar'))
  const generated = readdirSync(join(root, 'packages/annotations/gen'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('_pb.js'))
    .flatMap((file) => [file, file.replace(/\.js$/, ''), file.replace(/\.js$/, '.ts')])
    .map((file) => `ashlar-annotations/${file}`)
  const names = [...entries, ...generated]
  return [
    ...names.map((name, n) => `import * as entry${n} from '${name}'`),
    `export const entries = [${names.map((_, n) => `entry${n}`).join(', ')}]`,
  ].join('\n')
}

const STARTED = `
  const addresses = { grpcAddr: '127.0.0.1:0', httpAddr: '127.0.0.1:0' }
  const app = await NestFactory.create(widgetsApp(addresses, ':memory:'), { logger: false })
  await app.listen(0, '127.0.0.1')
  const headers = { 'account-id': 'acme', subject: 'ann', groups: 'staff', 'content-type': 'application/json' }
  const url = 'http://' + app.get<Server>(serverToken()).httpAddr() + '/v1/widgets'
  const { status } = await fetch(url, { method: 'POST', headers, body: '{"displayName":"Anvil"}' })
  await app.close()`
const NEST_IMPORTS = `
import 'reflect-metadata'
import { NestFactory } from '@nestjs/core'
import type { Server } from 'ashlar'
import { serverToken } from 'ashlar/nest'
import { widgetsApp } from './nest.js'
`

const MAIN = `${NEST_IMPORTS}
async function main(): Promise<void> {${STARTED}
  console.log('created: ' + status)
}
main().catch((error) => {
  console.log(error)
  process.exit(1)
})
`

const NEST_TEST = `${NEST_IMPORTS}
it('is served by Nest', async () => {${STARTED}
  expect(status).toBe(200)
})
`

const TEST = `
import { generateKeyPairSync, sign } from 'node:crypto'
import { memoryRepositoryOf, oidc, ServerBuilder } from 'ashlar'
import { expectDenied, repositoryContract, testServer } from 'ashlar/testing'
import { widgetsDataSource } from './data-source.js'
import { WidgetService } from './gen/widgets_pb.js'
import { Widget } from './widget.js'
import { WidgetRepository } from './widget-repository.js'

repositoryContract(async () => {
  const dataSource = await widgetsDataSource(':memory:').initialize()
  return {
    repository: new WidgetRepository(dataSource),
    make: (n: number) => ({ displayName: 'widget ' + n }),
    change: { patch: { displayName: 'changed', size: 7 }, mask: ['display_name', 'size'] },
    close: () => dataSource.destroy(),
  }
})

const builder = () =>
  new ServerBuilder()
    .authorizer({ authorize: ({ principal }) => principal.groups.includes('staff') })
    .register(WidgetService, new (memoryRepositoryOf(Widget))(), { retireWidget: () => ({}) })

it('serves and denies', async () => {
  const server = await testServer(builder())
  const ada = server.as({ tenant: 'acme', subject: 'ada', groups: ['staff'] })
  const { id } = await ada.client(WidgetService).createWidget({ widget: { displayName: 'Anvil' } })
  expect((await ada.fetch('/v1/widgets/' + id)).status).toBe(200)
  await expectDenied(server.fetch('/v1/widgets/' + id), server.fetch('/v1/widgets/none'))
  await server.stop()
})

it('verifies tokens', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const jwks = { keys: [{ kty: 'RSA', ...publicKey.export({ format: 'jwk' }), kid: 'test', alg: 'RS256' }] }
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const now = Math.floor(Date.now() / 1000)
  const claims = { iss: 'https://login.example.com', aud: 'widgets', sub: 'ada', org_id: 'acme', groups: ['staff'] }
  const text = part({ alg: 'RS256', kid: 'test', typ: 'at+jwt' }) + '.' + part({ ...claims, iat: now, exp: now + 300 })
  const token = text + '.' + sign('sha256', Buffer.from(text), privateKey).toString('base64url')
  const authenticator = oidc({ issuer: claims.iss, audience: 'widgets', jwks, claims: { tenant: 'org_id' } })
  const server = await testServer(builder(), { authenticator })
  const statusWith = async (bearer: string) =>
    (await server.fetch('/v1/widgets', { headers: { authorization: 'Bearer ' + bearer } })).status
  const statuses = [await statusWith(token), await statusWith('other')]
  await server.stop()
  expect(statuses).toEqual([200, 401])
})
`
