import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { drilling } from '../support/drill.js'
import { root } from '../support/root.js'
import { widgetSources } from '../support/sources/widget-sources.js'
import { declarationSources, emptyPackage, packageOptions } from '../support/sources/declaration-sources.js'

/**
 * The oldest TypeScript that reads the declarations, and those that compile README. The drill installs them.
 */
const OTHERS = drilling ? ['5.4', '5.9', '7'] : []
/** Masks that name no property. */
const WRONG_MASK = `
import { repositoryOf } from 'ashlar'
class Hook {
  id!: string
  ticketId!: string
}
declare const hooks: InstanceType<ReturnType<typeof repositoryOf<Hook>>>
hooks.update('a', { ticketId: '' }, ['ticketId', 'ticket_id'])
hooks.update('a', { ticketId: '' }, ['titel'])
hooks.batchUpdate([{ key: 'a', entity: { ticketId: '' }, fieldMask: ['titel'] }])
`

/** Compiles README only with `skipLibCheck`, and with a cast behind `toMessage`. */
const OLDEST = '5.4'

/** What the compiler of a package says, which has each source in a file named after what it shows. */
const checkedBy = (compiler: string, folder: string): readonly string[] => {
  for (const [name, source] of Object.entries(declarationSources))
    writeFileSync(join(folder, `${name.replaceAll(/\W+/g, '-')}.ts`), source)
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: packageOptions, include: ['*.ts'] }),
  )
  const { stdout, stderr, status } = spawnSync(process.execPath, [compiler, '-p', folder], {
    encoding: 'utf8',
  })
  const said = `${stdout}${stderr}`.split('\n').filter((line) => line !== '')
  return status === 0 || said.length > 0 ? said : [`exit status ${status}`]
}

/** What it reports for the widgets, with TypeScript's own defaults, which check packages too. */
const readmeCheckedBy = (compiler: string): readonly string[] => {
  const folder = emptyPackage()
  try {
    mkdirSync(join(folder, 'src/gen'), { recursive: true })
    for (const name of readdirSync(join(root, 'node_modules')).filter((one) => !one.startsWith('.')))
      if (!existsSync(join(folder, 'node_modules', name)))
        symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
    for (const [file, text] of widgetSources()) writeFileSync(join(folder, 'src', file), text)
    const compilerOptions = {
      ...{ target: 'es2022', module: 'nodenext', strict: true, noEmit: true, types: ['node'] },
      ...{ experimentalDecorators: true, emitDecoratorMetadata: true, skipLibCheck: false },
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['src/main.ts'] }))
    const { stdout, status } = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' })
    return status === 0 ? [] : stdout.split('\n')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const versionOf = (compiler: string): string => {
  const { stdout } = spawnSync(process.execPath, [compiler, '--version'], { encoding: 'utf8' })
  return /^Version (\d+\.\d+\.\d+)/.exec(stdout)?.[1] ?? 'unknown'
}

function install(version: string): { readonly folder: string; readonly compiler: string } {
  const folder = mkdtempSync(join(tmpdir(), `ashlar-typescript-${version}-`))
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  const { status, stderr } = spawnSync(
    'npm',
    ['install', '--no-audit', '--no-fund', `typescript@${version}`],
    {
      cwd: folder,
      encoding: 'utf8',
    },
  )
  if (status !== 0) throw new TypeError(`typescript@${version} cannot be installed: ${stderr.slice(-500)}`)
  return { folder, compiler: join(folder, 'node_modules', 'typescript', 'bin', 'tsc') }
}

describe('declarations of a package that uses this one compile', () => {
  let folder: string
  beforeEach(() => {
    folder = emptyPackage()
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const expectCompiles = (compiler: string, asked: string) => {
    const version = versionOf(compiler)
    process.stdout.write(`      TypeScript ${version}\n`)
    expect(version.startsWith(asked), `${version} is ${asked}`).to.equal(true)
    // What compiles whatever the declarations say would show nothing.
    writeFileSync(
      join(folder, 'wrong.ts'),
      "import { repositoryOf } from 'ashlar'\nexport const n: number = repositoryOf\n",
    )
    writeFileSync(join(folder, 'mask.ts'), WRONG_MASK)
    const lines = checkedBy(compiler, folder)
    const said = lines.filter((line) => !line.startsWith(' '))
    expect(said).to.have.length(3)
    expect(said[2]).to.match(/wrong\.ts\(2,14\): error TS2322/)
    for (const line of said.slice(0, 2)) expect(line).to.match(/mask\.ts/)
    expect(lines.join('\n').split('"titel"').length, lines.join('\n')).to.be.at.least(3)
    expect(lines.join('\n')).not.to.include('touchOnly')
  }

  it('with the TypeScript of this package', () => {
    expectCompiles(join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '6.')
  })

  for (const version of OTHERS)
    it(`with TypeScript ${version}`, () => {
      const { folder: installed, compiler } = install(version)
      try {
        expectCompiles(compiler, `${version}.`)
        if (version !== OLDEST) expect(readmeCheckedBy(compiler)).to.deep.equal([])
      } finally {
        rmSync(installed, { recursive: true, force: true })
      }
    })
})
