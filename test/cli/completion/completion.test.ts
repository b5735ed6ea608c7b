import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { completionTree } from '../../../cli/completion/completion-tree.js'
import { fishCompletion } from '../../../cli/completion/fish-completion.js'
import { runCommand } from '../../support/run-command.js'

const has = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0

/** What is typed, and what the shell offers. */
const OFFERED: readonly (readonly [string, readonly string[]])[] = [
  ['idp ', ['--help', '--version', 'clients', 'new', 'up']],
  ['idp cl', ['clients']],
  ['idp clients ', ['--help', 'sync']],
  ['idp clients sync --', ['--check', '--config', '--help', '--json', '--out']],
  ['ashlar idp u', ['up']],
  ['ashlar idp up --p', ['--port']],
  ['ashlar idp up --host ', []],
  ['ashlar idp new --dir some', ['some file', 'somewhere']],
  ['ashlar completion ', ['--help', 'bash', 'fish', 'zsh']],
  ['ashlar idp clients sync --check --o', ['--out']],
]

describe('ashlar completion', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-complete-'))
    for (const name of ['some file', 'somewhere', 'else']) writeFileSync(join(folder, name), '')
  })
  after(() => rmSync(folder, { recursive: true }))

  const script = async (shell: string): Promise<string> => {
    const { exit, stdout, stderr } = await runCommand(['completion', shell])
    expect([exit, stderr]).to.deep.equal([0, ''])
    return stdout
  }
  const run = (shell: string, text: string): string => {
    const { status, stdout, stderr } = spawnSync(shell, ['-c', text], { cwd: folder, encoding: 'utf8' })
    expect([status, stderr]).to.deep.equal([0, ''])
    return stdout
  }

  describe('bash', () => {
    let loaded: string
    before(async function () {
      if (!has('bash')) this.skip()
      loaded = await script('bash')
    })
    for (const [typed, offered] of OFFERED)
      it(`offers ${offered.join(' ') || 'nothing'} after "${typed}"`, () => {
        const words = typed.split(' ').map((word) => `'${word}'`)
        const asked = `COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _ashlar_complete; printf '%s\\n' "\${COMPREPLY[@]}"`
        const lines = run('bash', `${loaded}\n${asked}`)
          .split('\n')
          .filter((line) => line !== '')
        expect(lines.sort()).to.deep.equal([...offered])
      })
  })

  describe('fish', () => {
    let loaded: string
    before(async function () {
      if (!has('fish')) this.skip()
      loaded = await script('fish')
    })
    for (const [typed, offered] of OFFERED.filter(([text]) => / -|\S$/.test(text)))
      it(`offers ${offered.join(' ') || 'nothing'} after "${typed}"`, () => {
        const lines = run('fish', `${loaded}\ncomplete -C '${typed}'`).split('\n')
        expect(
          lines
            .map((line) => line.split('\t')[0]?.replaceAll('\\', '') ?? '')
            .filter((line) => line !== '')
            .sort(),
        ).to.deep.equal([...offered])
      })
  })

  it('is a script that zsh can read', async function () {
    if (!has('zsh')) this.skip()
    expect(run('zsh', `${await script('zsh')}\nprint -r -- \${_comps[idp]}`)).to.include('_ashlar_complete')
  })

  it('says which shells it knows', async () => {
    const { exit, stderr } = await runCommand(['completion', 'tcsh'])
    expect([exit, stderr]).to.deep.equal([
      2,
      'ashlar: Expected tcsh to be one of: bash, zsh, fish; see --help\n',
    ])
  })
})

describe('completionTree', () => {
  const command = { id: 'a:b', summary: "Say it's so", flags: {}, args: {} }

  it('leaves out what is hidden', () => {
    const flags = {
      seen: { type: 'boolean', summary: 'Seen' },
      unseen: { type: 'option', hidden: true },
      file: { type: 'option', helpValue: '<path>', description: 'A file.\nMore.' },
    }
    const tree = completionTree(
      'x',
      [
        { ...command, flags },
        { ...command, id: 'c', hidden: true },
      ],
      { a: 'Topic' },
    )
    expect(tree.map(({ at }) => at)).to.deep.equal(['x', 'x a', 'x a b'])
    expect(tree[0]?.words).to.deep.equal([{ word: 'a', summary: 'Topic' }])
    expect(tree[2]?.flags.map(({ name, takes, summary }) => `${name} ${takes} ${summary}`)).to.deep.equal([
      'seen nothing Seen',
      'file path A file.',
      'help nothing Show help.',
    ])
  })

  it('makes words that a shell takes as they are', () => {
    expect(fishCompletion(['x'], completionTree('x', [command], {}))).to.include("-a 'b' -d 'Say it\\'s so'")
  })
})
