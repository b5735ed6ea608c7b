import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { EXIT_CODES } from '../../../cli/errors/exit-codes.js'
import { compiled, root } from '../../support/root.js'

describe('docs/reference/cli.md', () => {
  const page = readFileSync(join(root, 'docs', 'reference', 'cli.md'), 'utf8')

  it('says what the commands say', () => {
    const { status, stderr } = spawnSync(
      process.execPath,
      [join(compiled, 'cli', 'help', 'reference.js'), '--check'],
      {
        encoding: 'utf8',
      },
    )
    expect([status, stderr]).to.deep.equal([0, ''])
  })

  it('has every exit status', () => {
    for (const code of Object.values(EXIT_CODES)) expect(page).to.include(`- \`${code}\`: `)
  })

  const DECIDED: readonly (readonly [what: string, where: string, text: RegExp])[] = [
    [
      'two hosts with one first label',
      'idp clients sync',
      /same first label.* rejects them with exit status 2/,
    ],
    ['no app', 'idp clients sync', /If no app is found.* exits with 2. The file then stays as it was/],
    ['guessable secrets', 'idp clients sync', /secrets are guessable on purpose/],
    ['guessable secrets', 'idp new', /secrets are guessable on purpose/],
  ]
  for (const [what, where, text] of DECIDED)
    it(`says what becomes of ${what} at ${where}`, () => {
      const [, rest = ''] = page.split(`\n## ashlar ${where}\n`)
      expect(rest.split('\n## ')[0]).to.match(text)
    })

  for (const flag of [
    '--config <path>',
    '--out <path>',
    '--host <name>',
    '--port <int>',
    '--upstream <url>',
    '--dir <path>',
    '--emit',
    '--check',
    '--force',
    '--json',
  ])
    it(`has ${flag}`, () => {
      expect(page).to.include(`- \`${flag}\`: `)
    })
})
