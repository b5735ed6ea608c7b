import { Args, Flags } from '@oclif/core'
import { basename, relative, resolve } from 'node:path'
import { AUTHENTICATIONS, checkName, type Choices } from '../new/choices.js'
import { DATABASE_FACTS, DATABASES } from '../new/databases.js'
import { canAsk, chosen } from '../output/chosen.js'
import { Verb } from '../verb/verb.js'

/** The files written, and the choices made. */
interface Written extends Choices {
  readonly folder: string
  readonly files: readonly string[]
}

export default class New extends Verb {
  static override summary = 'Write a new project.'
  static override description = `The project builds, starts and has tests that pass: a .proto with a resource and one method of its own, entity, repository, server, migrations, tests that prove that tenants stay apart, Dockerfile, compose file, CI and editor settings. buf and protoc-gen-es are among its development dependencies, so that nothing but Node and npm is needed.

The folder has to be empty or not there. At a terminal, it asks for what no flag says. Without one it is SQLite, plain, and headers.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> shop',
    '<%= config.bin %> <%= command.id %> shop --database postgres --auth oidc',
    '<%= config.bin %> <%= command.id %> shop --nest --database mysql',
    '<%= config.bin %> <%= command.id %> shop --auth dev-login',
  ]
  static override args = {
    dir: Args.string({ description: 'The folder of the project.', required: true }),
  }
  static override flags = {
    database: Flags.option({ summary: 'Where resources live.', options: DATABASES })(),
    nest: Flags.boolean({ summary: 'Write a Nest application.', allowNo: true }),
    auth: Flags.option({
      summary:
        'How callers say who they are: headers, for development only, tokens of an identity provider, or dev-login: a page that signs in, with a provider on this machine.',
      options: AUTHENTICATIONS,
    })(),
    name: Flags.string({
      summary: 'The name of the package. Default: the name of the folder.',
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
          'Who is calling: headers for now, OpenID Connect, or a page that signs in?',
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
      ...(DATABASE_FACTS[choices.database].isServer ? ['  the database, as README.md says'] : []),
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
