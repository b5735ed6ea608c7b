import { expect } from 'chai'
import { startImage } from '../../../../cli/migrate/rollout/image.js'
import { failureOf } from '../../../migrations/each-engine.js'

/** A program that responds with 503 and a body. */
const responding = (body: string) =>
  `"${process.execPath}" -e "require('http').createServer((_, r) => { r.statusCode = 503; r.end(${body}) }).listen(process.env.PORT, '127.0.0.1')"`

const start = (command: string, longestStartMs: number) =>
  failureOf(
    startImage('new', {
      command,
      databaseUrl: 'postgres://nowhere',
      ready: '/readyz',
      log: '/dev/null',
      longestStartMs,
    }),
  )

/** Where the machine is busy the program may not listen before the time is over: then it gets more. */
const startResponding = async (body: string) => {
  for (let seconds = 2; ; seconds *= 2) {
    const { message } = await start(responding(body), seconds * 1000)
    if (message.includes(`after ${seconds} s: `) && message.includes('responds with')) return message
  }
}

describe('an image that does not get ready', () => {
  it('is reported with what it says of itself', async () => {
    const message = await startResponding(`JSON.stringify({ failing: ['schema'] }, null, 2)`)
    expect(message).to.match(
      /^the new image is not ready after \d+ s: http:\S+\/readyz responds with 503: \{ "failing": \[ "schema" \] \}; if another path reports readiness, pass it with --ready$/,
    )
  })

  it('is quoted with its first words only', async () => {
    const message = await startResponding(`'x'.repeat(100000)`)
    expect(message).to.match(/responds with 503: x{299}…; /)
  })

  it('is told to listen where it does not respond', async () => {
    const { message } = await start(`"${process.execPath}" -e "setTimeout(() => {}, 60000)"`, 500)
    expect(message).to.match(/does not respond: it must listen on PORT$/)
  })
})
