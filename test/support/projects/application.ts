import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from '../root.js'
import { readmeSources } from '../sources/readme-project.js'
import { packedInto } from './packed-package.js'
import { unpackedInto } from './packed-project.js'

const TOOLS = join(root, 'test/support/applications')
/** Packages of an application, as they are installed here. */
const PEERS = [
  ...['typeorm', 'sqlite3', '@bufbuild/protobuf', '@connectrpc/connect', '@types/node', 'esbuild'],
  ...['@nestjs/common', '@nestjs/core', '@nestjs/platform-express', 'rxjs', 'typescript-6', 'typescript-7'],
]
/** Where a package is that has another name here. */
const NAMED: Readonly<Record<string, string>> = {
  'typescript-6': 'typescript',
  'typescript-7': 'native-typescript',
}

/** A folder in which applications have the packed package, the compilers and the test frameworks. */
export function applicationsIn(folder: string): void {
  if (!existsSync(join(TOOLS, 'node_modules/jest')))
    execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: TOOLS,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  const packed = join(folder, 'packed')
  mkdirSync(packed, { recursive: true })
  unpackedInto(folder, packed, Object.values(packedInto(packed)), [])
  for (const name of PEERS) link(folder, name, join(root, 'node_modules', NAMED[name] ?? name))
  for (const name of packagesIn(join(TOOLS, 'node_modules')))
    link(folder, name, join(TOOLS, 'node_modules', name))
}

/**
 * Writes an application of CommonJS: the example of widgets in a Nest application, without extensions in its
 * imports. `main.ts` starts it, creates a widget over HTTP, prints the status, and ends.
 */
export function writeApplication(folder: string, settings: Readonly<Record<string, unknown>>): void {
  for (const [file, text] of readmeSources())
    if (!/tour|main|schema/.test(file))
      write(join(folder, 'src', file), text.replaceAll(/((?:from |import )["'][^"']+)\.js(["'])/g, '$1$2'))
  write(join(folder, 'src/main.ts'), MAIN)
  write(join(folder, 'src/widgets.test.ts'), TEST)
  write(join(folder, 'package.json'), '{ "private": true }')
  for (const [file, value] of Object.entries(settings))
    write(join(folder, file), typeof value === 'string' ? value : JSON.stringify(value))
}

const MAIN = `
import 'reflect-metadata'
import { NestFactory } from '@nestjs/core'
import type { Server } from 'ashlar'
import { serverToken } from 'ashlar/nest'
import { widgetsApp } from './nest'

async function main(): Promise<void> {
  const addresses = { grpcAddr: '127.0.0.1:0', httpAddr: '127.0.0.1:0' }
  const app = await NestFactory.create(widgetsApp(addresses, ':memory:'), { logger: false })
  await app.listen(0, '127.0.0.1')
  const headers = { 'account-id': 'acme', subject: 'ann', groups: 'staff', 'content-type': 'application/json' }
  const url = 'http://' + app.get<Server>(serverToken()).httpAddr() + '/v1/widgets'
  const { status } = await fetch(url, { method: 'POST', headers, body: '{"displayName":"Anvil"}' })
  await app.close()
  console.log('created: ' + status)
}
main().catch((error) => {
  console.log(error)
  process.exit(1)
})
`

const TEST = `
import { generateKeyPairSync, sign } from 'node:crypto'
import { memoryRepositoryOf, oidc, ServerBuilder } from 'ashlar'
import { expectDenied, repositoryContract, testServer } from 'ashlar/testing'
import { widgetsDataSource } from './data-source'
import { WidgetService } from './gen/widgets_pb'
import { Widget } from './widget'
import { WidgetRepository } from './widget-repository'

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
  const text = part({ alg: 'RS256', kid: 'test' }) + '.' + part({ ...claims, iat: now, exp: now + 300 })
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

function packagesIn(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) =>
      name.startsWith('@') ? readdirSync(join(folder, name)).map((inner) => `${name}/${inner}`) : [name],
    )
}

function link(folder: string, name: string, target: string): void {
  const path = join(folder, 'node_modules', name)
  if (existsSync(path)) return
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(target, path)
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
