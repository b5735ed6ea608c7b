import { Args, Flags } from '@oclif/core'
import { basename, relative, resolve } from 'node:path'
import { AUTHENTICATIONS, checkName, type Choices } from '../new/choices.js'
import { DATABASE_FACTS, DATABASES } from '../new/databases.js'
import { canAsk, chosen } from '../output/chosen.js'
import { Verb } from '../verb/verb.js'

/** The written files and the choices made. */
interface Written extends Choices {
  readonly folder: string
  readonly files: readonly string[]
}

export default class New extends Verb {
  static override summary = 'Write a new project.'
  static override description = `The project builds, starts and passes its tests. It contains a .proto with a resource and a custom method, an entity, a repository, a server, migrations, tenant isolation tests, a Dockerfile, a compose file, CI and editor settings. buf and protoc-gen-es are among its development dependencies, so only Node and npm are needed.

The folder must be empty or not exist yet. In a terminal, the command prompts for every choice that no flag sets. Without a terminal, the defaults are SQLite, plain, and headers.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> shop',
    '<%= config.bin %> <%= command.id %> shop --database postgres --auth oidc',
    '<%= config.bin %> <%= command.id %> shop --nest --database mysql',
    '<%= config.bin %> <%= command.id %> shop --auth dev-login',
  ]
  static override args = {
    dir: Args.string({ description: "The project's folder.", required: true }),
  }
  static override flags = {
    database: Flags.option({ summary: 'The database for resources.', options: DATABASES })(),
    nest: Flags.boolean({ summary: 'Write a Nest application.', allowNo: true }),
    auth: Flags.option({
      summary:
        'The authentication of callers: headers (development only), oidc (tokens of an identity provider), or dev-login (a sign-in page, with a provider on this machine).',
      options: AUTHENTICATIONS,
    })(),
    name: Flags.string({
      summary: "The package's name. Default: the folder's name.",
      helpValue: '<name>',
    }),
  }

  override async run(): Promise<Written> {
    const { args, flags } = await this.parse(New)
    const { checkEmpty, writeProject } = await import('../new/write-project.js')
    const folder = resolve(args.dir)
    const name = flags.name ?? basename(folder)
    checkName(name)
    checkEmpty(folder, args.dir)
    const choices: Choices = {
      name,
      database: flags.database ?? (await asked('Which database?', DATABASES)),
      nest:
        (flags.nest as boolean | undefined) ??
        (await asked('Plain, or in a Nest application?', ['plain', 'nest'])) === 'nest',
      authentication:
        flags.auth ??
        (await asked(
          'How are callers authenticated: headers for now, OpenID Connect, or a sign-in page?',
          AUTHENTICATIONS,
        )),
    }
    const { projectFilesOf } = await import('../new/project-files.js')
    const files = projectFilesOf(choices)
    writeProject(folder, files, args.dir)
    const paths = [...files.keys()].sort()
    const way = relative(process.cwd(), folder)
    this.say([
      ...paths.map((path) => `${this.paint.good('written')} ${way === '' ? path : `${way}/${path}`}`),
      '',
      'Now:',
      ...(way === '' ? [] : [`  cd ${way}`]),
      '  npm install',
      ...(DATABASE_FACTS[choices.database].isServer ? ['  the database, as README.md describes'] : []),
      '  npm run dev',
      ...(choices.authentication === 'dev-login'
        ? ['  npm run login, in another terminal', '  open http://localhost:3000/app']
        : []),
    ])
    return { ...choices, folder, files: paths }
  }
}

const asked = <T extends string>(question: string, options: readonly [T, ...T[]]): Promise<T> =>
  canAsk() ? chosen(question, options) : Promise.resolve(options[0])
