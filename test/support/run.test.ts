import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { askedBackends, servicesFor } from './running/asked.js'
import { mostExpensive } from './running/most-expensive.js'
import { compiled } from './root.js'

describe('the test run', function () {
  const run = (args: readonly string[], env: NodeJS.ProcessEnv) => {
    const { ASHLAR_TEST_SUMMARY: _, ...own } = process.env
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(compiled, 'test', 'support', 'run.js'), ...args],
      { encoding: 'utf8', env: { ...own, BACKENDS: 'memory', CI: '', ...env } },
    )
    return { status, printed: stdout + stderr }
  }
  const VECTORS = [
    ['secrets/hash-spec', 'crypto-sha512-256-sha384'],
    ['secrets/hash-spec', 'crypto-pbkdf2-sha256'],
    ['secrets/dev-encryptor', 'crypto-aes-256-gcm'],
    ['secrets/dev-encryptor', 'crypto-hmac-sha256'],
    ['authn/jws-vectors', 'jws-wycheproof'],
    ['gateway/http/vectors', 'http1-llhttp'],
    ['gateway/json/conformance', 'proto3-json-conformance'],
    ['migrations/lint/vectors', 'migration-lint'],
  ] as const
  const withoutVectors = { ASHLAR_TEST_VECTORS: join(tmpdir(), 'ashlar-no-vectors') }
  const files = [...new Set(VECTORS.map(([file]) => file))]

  it('says loudly which public vectors it does not have', () => {
    const { status, printed } = run(files, withoutVectors)
    for (const [, name] of VECTORS) expect(printed).to.include(`CANNOT BE HAD the public vectors ${name}: `)
    expect(printed).to.match(/^\d+ passed, 0 failed, \d+ skipped$/m)
    expect(status).to.equal(0)
  })

  it('fails in CI without the public vectors', () => {
    const { status, printed } = run(files, { ...withoutVectors, CI: 'true' })
    expect(printed).to.match(/^CANNOT BE HAD the public vectors jws-wycheproof: .*, and CI needs it$/m)
    expect(printed).to.match(new RegExp(`^\\d+ passed, ${VECTORS.length} failed, \\d+ skipped$`, 'm'))
    expect(status).to.equal(1)
  })

  it('refuses a word that no test file has, instead of running the others alone', () => {
    const { status, printed } = run(['secrets/encoding', 'secrts'], {})
    expect(status).to.equal(1)
    expect(printed).to.include('no test file has secrts in its path')
  })

  it('names the ten files that took most processor time', () => {
    const times = Array.from({ length: 30 }, (_, n) => ({ file: `${n}`, wallMs: 60_000, cpuMs: n * 250 }))
    const [sum, first, ...rest] = mostExpensive(times, 120_000)
    expect(sum).to.equal(
      '30 files took 1800.0 s, of which they computed 108.8 s; servers and what begins processes computed 11.3 s',
    )
    expect(first).to.equal('dearest: 7.3 s of processor time in 60.0 s: 29')
    expect(rest).to.have.length(9)
    expect(mostExpensive(times, 120_000, Infinity)).to.have.length(31)
    expect(mostExpensive(times.slice(0, 1), 250)).to.deep.equal([])
  })

  it('refuses a backend that there is not, instead of leaving everything out', () => {
    expect(() => askedBackends('sqlit')).to.throw(
      TypeError,
      'BACKENDS knows no "sqlit": it takes memory, sqlite',
    )
    expect(() => askedBackends('')).to.throw(TypeError)
    expect(askedBackends('memory,mariadb')).to.deep.equal(['memory', 'mariadb'])
  })

  for (const [backends, services] of [
    [['memory', 'sqlite', 'better-sqlite3'], []],
    [['postgres'], ['postgres']],
    [['pgbouncer'], ['postgres', 'pgbouncer']],
    [['mariadb'], ['mysql']],
    [['mysql8'], ['mysql']],
    [
      ['mysql', 'redis'],
      ['mysql', 'redis'],
    ],
    [undefined, ['postgres', 'pgbouncer', 'mysql', 'redis', 'nats']],
  ] as const)
    it(`has the servers of ${backends?.join(' and ') ?? 'every backend'}`, () => {
      expect(servicesFor(backends)).to.deep.equal(services)
    })
})
