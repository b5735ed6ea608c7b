import { createFileRegistry, type DescService, fromBinary } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { drilling } from '../support/drill.js'
import { root } from '../support/root.js'
import { partly, startServer } from '../support/servers/server.js'

/** The .proto files of Google's APIs, and the compiler, are packages of `npm run gen`. */
const tools = join(root, 'proto')
const VERSION = '5.0.3'

/** Two methods of each of these packages have the same verb and path. */
const AMBIGUOUS = [
  ...['v1', 'v1beta1', 'v1beta2'].map((version) => `google.cloud.bigquery.storage.${version}`),
  ...['v1', 'v1alpha', 'v1beta'].map((version) => `google.cloud.discoveryengine.${version}`),
]

/** Starts a server for each package of Google's public APIs, with its OpenAPI document. */
const describeDrill = drilling ? describe : describe.skip

describeDrill(`each package of google-proto-files ${VERSION}`, () => {
  const packages = new Map<string, DescService[]>()

  before(() => {
    const modules = join(tools, 'node_modules')
    if (!existsSync(join(modules, 'google-proto-files')))
      execFileSync('npm', ['--prefix', tools, 'ci', '--no-audit', '--no-fund'], { stdio: 'ignore' })
    const { version } = JSON.parse(
      readFileSync(join(modules, 'google-proto-files', 'package.json'), 'utf8'),
    ) as { readonly version: string }
    expect(version).to.equal(VERSION)
    for (const { proto, services } of compiled(modules).files)
      for (const service of services) {
        const known = packages.get(proto.package)
        if (known === undefined) packages.set(proto.package, [service])
        else known.push(service)
      }
  })

  it('starts, with a rule for every method', async () => {
    const refused: string[] = []
    for (const [name, services] of packages)
      try {
        await startAndStop(services)
      } catch (error) {
        if (!(error instanceof Error)) throw error
        if (!AMBIGUOUS.includes(name)) throw new Error(name, { cause: error })
        expect(error.message).to.contain('another rule has the same method and path')
        refused.push(name)
      }
    expect(refused.sort()).to.deep.equal(AMBIGUOUS)
    expect(packages.size).to.equal(489)
  })
})

const startAndStop = async (services: readonly DescService[]): Promise<void> => {
  const rules = services.flatMap(({ typeName, methods }) =>
    methods.map(({ name }) => ({ method: `/${typeName}/${name}`, public: true })),
  )
  const { stop } = await startServer(
    (builder) => {
      for (const service of services) builder.register(service, partly(service, {}))
    },
    { rules, gateway: { openapi: true } },
  )
  await stop()
}

const compiled = (modules: string) => {
  const stage = mkdtempSync(join(tmpdir(), 'ashlar-public-apis-'))
  try {
    for (const folder of ['google', 'grafeas'])
      cpSync(join(modules, 'google-proto-files', folder), join(stage, folder), { recursive: true })
    // The compiler has these files itself.
    rmSync(join(stage, 'google', 'protobuf'), { recursive: true })
    writeFileSync(join(stage, 'buf.yaml'), 'version: v2\n')
    execFileSync(
      join(modules, '@bufbuild/buf-linux-x64/bin/buf'),
      ['build', '--exclude-source-info', '-o', 'image.binpb'],
      { cwd: stage, stdio: 'inherit', env: { ...process.env, BUF_CACHE_DIR: join(stage, '.cache') } },
    )
    const image = readFileSync(join(stage, 'image.binpb'))
    return createFileRegistry(fromBinary(FileDescriptorSetSchema, image))
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
}
