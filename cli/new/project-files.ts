import { alignedTables } from './aligned-tables.js'
import type { Choices } from './choices.js'
import { DATABASE_FACTS } from './databases.js'
import { namesOf, packageJson } from './package-json.js'
import { filled, layered } from './templates.js'

/** The partial files that a layer may contain. */
const PARTS = { begin: 'README.begin.sh', readme: 'README.part.md', environment: 'environment.part.yaml' }

/** Returns the files of a new project by path. */
export function projectFilesOf(choices: Choices): ReadonlyMap<string, string> {
  const { database, authentication, nest } = choices
  const names = namesOf(choices)
  const part = (layer: string, name: string) => filled(layered([layer]).get(name) ?? '', names)
  const values = {
    ...names,
    ...callersOf(choices),
    about: `Projects of many tenants, over gRPC, HTTP/JSON and Connect: a service on [Ashlar](https://www.npmjs.com/package/ashlar)${nest ? ' in a Nest application' : ''}.`,
    files: filled(nest ? NEST_FILES : PLAIN_FILES, names),
    security: nest ? '' : SECURITY_TEST,
    migrationWord: DATABASE_FACTS[database].isServer ? ', migration' : '',
    begin: part(database, PARTS.begin),
    database: part(database, PARTS.readme),
    callers: part(authentication, PARTS.readme),
    environment: part(authentication, PARTS.environment),
  }
  const texts = layered(['base', nest ? 'nest' : 'plain', database, authentication])
  for (const part of Object.values(PARTS)) texts.delete(part)
  const files = new Map([['package.json', packageJson(choices)]])
  for (const [path, text] of texts) {
    const whole = filled(text, values)
    files.set(
      path.replace('/PACKAGE/', `/${names.package ?? ''}/`),
      path.endsWith('.md') ? alignedTables(whole) : whole,
    )
  }
  return files
}

/**
 * Returns the HTTP port and curl's options for identifying the caller. The development identity provider uses
 * port 8080.
 */
const callersOf = ({ authentication, name }: Choices): { readonly port: string; readonly caller: string } =>
  authentication === 'dev-login'
    ? {
        port: '3000',
        caller: `-H "authorization: Bearer $(npx ashlar-idp token --user alice --client ${name})"`,
      }
    : { port: '8080', caller: "-H 'account-id: acme' -H 'subject: ada' -H 'groups: staff'" }

const SECURITY_TEST = '. `test/security.test.ts` calls each method as a stranger and as another tenant'
const PLAIN_FILES =
  '| `src/server.ts`        | the server with every service of `src/services.ts`                         |\n'
const NEST_FILES =
  '| `src/app.module.ts`    | the application with every module of `src/modules.ts`                      |\n'
