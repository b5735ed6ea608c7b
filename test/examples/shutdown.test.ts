import { expect } from 'chai'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../support/free-port.js'
import { post } from '../support/servers/server.js'

const STAFF = { 'account-id': 'acme', subject: 'ada', groups: 'staff' }

describe('the example as a process', function () {
  it('ends although a handler never does, whose caller is told', async () => {
    const [grpc, http] = [await freePort(), await freePort()]
    const child = fork(fileURLToPath(new URL('hosts/endless.js', import.meta.url)), {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      env: {
        ...process.env,
        WIDGETS_DATABASE: ':memory:',
        GRPC_ADDR: `127.0.0.1:${grpc}`,
        HTTP_ADDR: `127.0.0.1:${http}`,
      },
    })
    const ended = once(child, 'exit')
    const url = `http://127.0.0.1:${http}`
    while ((await fetch(`${url}/readyz`).catch(() => undefined))?.status !== 200) await pause(50)
    const retiring = once(child, 'message')
    const hung = fetch(`${url}/v1/widgets/1:retire`, post(STAFF))
    await retiring
    child.kill('SIGTERM')
    expect((await hung).status).to.equal(503)
    expect(await ended).to.deep.equal([0, null])
  })
})
