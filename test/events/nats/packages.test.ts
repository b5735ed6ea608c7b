import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { withoutPackages } from '../../support/projects/missing-packages.js'

describe('a server with a relay and a consumer of NATS', () => {
  const start = async (flags: readonly string[]): Promise<string> => {
    const host = fileURLToPath(new URL('hosts/start.js', import.meta.url))
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, host])
    return stdout
  }

  it('starts also while NATS cannot be reached', async () => {
    expect(await start([])).to.equal('started')
  })

  it('does not start without the packages, and names them', async () => {
    const said = await start([withoutPackages('@nats-io/')])
    for (const name of ['relay:nats', 'stream:mails'])
      expect(said).to.include(
        `${name}: NATS requires packages: npm install @nats-io/jetstream @nats-io/transport-node`,
      )
    expect(said).to.not.include('local')
  })
})
