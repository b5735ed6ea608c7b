import { expect } from 'chai'
import { runCli } from '../../support/run-cli.js'

/** Where no server listens: a command that has parsed its flags fails there. */
const NOWHERE = { env: { ASHLAR_DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' } }
const ROWS = [
  ['most-lag', 'max-lag', ['outbox', 'status']],
  ['tries', 'max-attempts', ['outbox', 'relay', '--nats', 'nats://127.0.0.1:1']],
] as const

describe('old names of flags', () => {
  for (const [was, now, command] of ROWS) {
    it(`--${was} is taken, and the warning says --${now}`, async () => {
      const old = await runCli('ashlar', [...command, `--${was}`, '1'], NOWHERE)
      const { exit, stderr } = await runCli('ashlar', [...command, `--${now}`, '1'], NOWHERE)
      expect([old.exit, stderr.includes(was)]).to.deep.equal([exit, false])
      const warning = old.stderr.split('\n').filter((line) => line.includes(`--${now}`) || line.includes(now))
      expect(warning.join('\n')).to.include(was)
      expect(old.stderr).to.include(stderr)
    })

    it(`--${was} and --${now} together are refused`, async () => {
      const { exit, stderr } = await runCli('ashlar', [...command, `--${was}`, '1', `--${now}`, '2'], NOWHERE)
      expect(exit).to.equal(2)
      expect(stderr).to.include(`--${was}`).and.to.include(`--${now}`)
    })
  }
})
