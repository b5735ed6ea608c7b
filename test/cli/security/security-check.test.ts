import { expect } from 'chai'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { SecurityReport } from '../../../lib/testing/index.js'
import { compiled } from '../../support/root.js'
import { type Ran, runCli } from '../../support/run-cli.js'

const SERVED = join(compiled, 'test', 'support', 'entities', 'served-widgets.js')
const PING = '/specimens.v1.EchoService/Ping'

describe('ashlar security-check', function () {
  const check = (...args: readonly string[]): Promise<Ran> =>
    runCli('ashlar', ['security-check', SERVED, ...args])

  it('passes a service that is in order, and names what it did not check', async () => {
    const { exit, stdout, stderr } = await check('--public', PING)
    expect(exit).to.equal(0)
    expect(stderr).to.match(/^note: [^\n]*\brequests\b[^\n]*\n$/)
    const lines = stdout.trimEnd().split('\n')
    expect(lines.at(-1)).to.match(/^passed: 19 methods, \d{3,} calls$/)
    expect(lines.slice(0, -1).map((line) => line.split(':')[0])).to.deep.equal(
      ['Chat', 'Collect', 'Count', 'Download', 'Echo'].map(
        (name) => `not checked /specimens.v1.EchoService/${name}`,
      ),
    )
  })

  it('exits with 1 and says what gives way, on stdout alone', async () => {
    const { exit, stdout, stderr } = await check('--export', 'leaky')
    expect(exit).to.equal(1)
    expect(stdout).to.match(/^isolation \/widgets\.v1\.WidgetService\/GetWidget \(grpc\)\n {2}it returns/)
    expect(stdout).to.match(/\n\d finding\(s\): 13 methods, \d+ calls\n$/)
    expect(stdout).to.not.include('retiring')
    expect(stderr).to.match(/^(retiring\n)+$/)
  })

  it('takes two tenants, and refuses one and what is none', async () => {
    for (const [tenants, said] of [
      [['--tenant', 'acme'], '--tenant: 1 given'],
      [['--tenant', 'acme', '--tenant', 'acme'], '--tenant: "acme" is given twice'],
    ] as const) {
      const { exit, stderr } = await check(...tenants)
      expect([exit, stderr.includes(said)], stderr).to.deep.equal([2, true])
    }
  })

  it('prints the report with --json, and checks a server as it was built', async () => {
    const { exit, stdout } = await check(
      '--export',
      'built',
      '--group',
      'staff',
      '--subject',
      'ada',
      '--json',
    )
    const report = JSON.parse(stdout) as SecurityReport
    expect(exit).to.equal(0)
    expect(report).to.deep.include({ passed: true, findings: [], notChecked: [], methods: 13 })
  })

  it('reports a public method that nobody named', async () => {
    const { exit, stdout } = await check('--export', 'notes', '--json')
    const { findings } = JSON.parse(stdout) as SecurityReport
    expect(exit).to.equal(1)
    expect(findings.map((finding) => [finding.check, finding.method])).to.deep.equal([['public', PING]])
  })

  it('takes an export for this command alone first, and names it where the DataSource is not initialized', async () => {
    const uninitialized = await check('--export', 'uninitialized')
    expect(uninitialized.exit).to.equal(2)
    expect(uninitialized.stderr).to.match(
      /await dataSource\.initialize\(\) first; export a function `checked` that does so first\n$/,
    )
    const folder = mkdtempSync(join(tmpdir(), 'ashlar-checked-'))
    const module = join(folder, 'server.mjs')
    const from = JSON.stringify(pathToFileURL(SERVED).href)
    writeFileSync(module, `export { uninitialized as builder, notes as checked } from ${from}\n`)
    try {
      const { exit, stdout } = await runCli('ashlar', ['security-check', module, '--public', PING])
      expect(exit).to.equal(0)
      expect(stdout).to.match(/^passed: \d+ methods, /m)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('refuses services without implementations', async () => {
    const generated = join(compiled, 'examples', 'widgets', 'gen', 'widgets_pb.js')
    const { exit, stderr } = await runCli('ashlar', ['security-check', generated])
    expect(exit).to.equal(2)
    expect(stderr).to.include('export a ServerBuilder')
  })
})
