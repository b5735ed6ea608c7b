import { readFileSync } from 'node:fs'
import { packageFile } from '../../lib/files/package-file.js'
import { type Choices, protoPackage } from './choices.js'
import { DATABASE_FACTS } from './databases.js'

interface Manifest {
  readonly version: string
  readonly engines: { readonly node: string }
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly overrides: Readonly<Record<string, unknown>>
}

/** The tools that compile `.proto` files. They are not part of this package. */
const PROTO_TOOLS = { '@bufbuild/buf': '^1.75.0', '@bufbuild/protoc-gen-es': '~2.13.0' }

/**
 * The script that removes the output of deleted tests, which would otherwise still run. `dist/src` is kept,
 * because `ashlar dev` may be running it.
 */
const CLEAN = `node -e "['dist/test', 'dist/.tsbuildinfo'].map((old) => fs.rmSync(old, { recursive: true, force: true }))"`

/** Runs before build, test and start. Without INDEXED search it takes little time and changes nothing. */
const SEARCH = 'npm run --silent search'

/**
 * Returns the script that writes the files of INDEXED search to an ignored folder and copies them to the
 * committed files.
 */
const searchScript = (migrations: string): string =>
  `ashlar search generate --out generated --migrations ${migrations} && ashlar search sync --from generated --to ${migrations}`

/** Returns the `package.json` of a new project, with the versions that this package is tested with. */
export function packageJson({ name, database, nest, authentication }: Choices): string {
  const own = manifest()
  const known: Readonly<Record<string, string | undefined>> = {
    ...own.devDependencies,
    ...own.peerDependencies,
    ...own.dependencies,
  }
  const versions = (names: readonly string[]) =>
    Object.fromEntries(names.map((one) => [one, known[one] ?? `^${own.version}`]))
  const { packages, developmentPackages, built, searchFolder } = DATABASE_FACTS[database]
  const hasLogin = authentication === 'dev-login'
  const hasVectors = searchFolder !== undefined
  const ofNest = nest ? ['@nestjs/common', '@nestjs/core', 'rxjs'] : []
  return `${JSON.stringify(
    {
      name,
      version: '0.1.0',
      private: true,
      type: 'module',
      engines: { node: own.engines.node },
      scripts: {
        dev: 'ashlar dev',
        ...(hasLogin && { login: 'ashlar-idp serve' }),
        build: `${CLEAN} && buf generate && tsc${hasVectors ? ` && ${SEARCH}` : ''}`,
        start: `${hasVectors ? `${SEARCH} && ` : ''}node --enable-source-maps dist/src/main.js`,
        test: 'npm run build && node --test dist/test/*.test.js',
        ...(hasVectors && { search: searchScript(searchFolder) }),
      },
      dependencies: sorted(
        versions([
          ...['ashlar', 'ashlar-annotations', '@bufbuild/protobuf', '@connectrpc/connect', 'typeorm'],
          ...ofNest,
          ...(hasLogin ? ['openid-client'] : []),
          ...packages,
        ]),
      ),
      devDependencies: sorted({
        ...PROTO_TOOLS,
        ...versions([
          ...['@types/node', 'swagger-ui-dist', 'typescript', ...developmentPackages],
          ...(hasLogin ? ['ashlar-idp'] : []),
        ]),
      }),
      // Default values for flags of the `ashlar` commands.
      ashlar: {
        entities: 'dist/src/entities.js',
        files: 'migrations',
        ...(!nest && { server: 'dist/src/server.js' }),
      },
      // The install scripts that an npm version with confirmation may run.
      allowScripts: {
        ...Object.fromEntries([...built, '@bufbuild/buf'].map((one) => [one, true])),
        '@scarf/scarf': false,
        protobufjs: false,
      },
      // Without these, NATS prints a warning on Node.js 20, and openapi-typescript conflicts with this
      // version of TypeScript.
      overrides: {
        '@nats-io/nuid': own.overrides['@nats-io/nuid'],
        'openapi-typescript': own.overrides['openapi-typescript'],
      },
      // A dependency of swagger-ui-dist that reports installs.
      scarfSettings: { enabled: false },
    },
    null,
    2,
  )}\n`
}

/** Returns the values of `{{word}}` that are derived from names and versions. */
export const namesOf = ({ name }: Choices): Readonly<Record<string, string>> => ({
  name,
  package: protoPackage(name),
  domain: `${name}.example.com`,
})

const manifest = (): Manifest => JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as Manifest

const sorted = (entries: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1)))
