import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { libraryDataSource, libraryServer } from '../../../examples/library/main.js'
import type { Server } from '../../../lib/index.js'
import { compiled } from '../../support/root.js'
import { runCli } from '../../support/run-cli.js'
import { recordingLogger } from '../../support/servers/server.js'
import { asUser } from '../../support/sources/widget-sources.js'
import { blocksOf, textOf } from '../../support/sources/documents.js'

const blocks = blocksOf('README.md')
/** Stands for lines that the page leaves out. */
const CUT = '\n…\n'

/** The commands of a block, each with what it prints. */
const exchangesOf = (text: string): readonly (readonly [command: string, printed: string])[] =>
  text
    .split(/^\$ /m)
    .slice(1)
    .map((exchange) => {
      const end = exchange.indexOf('\n')
      return [exchange.slice(0, end), exchange.slice(end + 1).trimEnd()]
    })

const blockWith = (part: string): string => {
  const found = blocks.find(({ text }) => text.includes(part))
  if (found === undefined) throw new Error(`README.md has no block with ${part}`)
  return found.text
}

describe('the first screen of README.md', () => {
  it('shows lines of the example', () => {
    const shown = [
      ['examples/library/library.proto', blockWith('message Shelf')],
      ['examples/library/shelf.ts', blockWith('class Shelf').replace(/^.*\n/, '')],
      ['examples/library/main.ts', blockWith('.register(').replace(/^.*\n/, '')],
    ] as const
    for (const [path, block] of shown) {
      const source = asUser(textOf(path)).replaceAll("'../../decorators/index.js'", "'ashlar/decorators'")
      expect(
        block.split(CUT).filter((part) => !source.includes(`${part}\n`)),
        path,
      ).to.deep.equal([])
    }
  })

  it('has every block that this test does not run on a list', () => {
    const others = blocks.filter(
      ({ text }) => !/message Shelf|class Shelf|\.register\(|^\$ (curl|node bin\/ashlar)/.test(text),
    )
    // The commands of a clone, which are this test, the tour and the library.
    expect(others.map(({ text }) => text)).to.deep.equal([
      'npm ci && npm run demo\nnpm ci && npm test\nLIBRARY_DATABASE=:memory: node dist/examples/library/main.js',
    ])
  })

  describe('with the library served', () => {
    let server: Server
    let serving: Promise<void>
    const stop = new AbortController()
    before(async () => {
      server = libraryServer({
        dataSource: await libraryDataSource(':memory:').initialize(),
        grpcAddr: '127.0.0.1:0',
        httpAddr: '127.0.0.1:0',
        logger: recordingLogger(),
      })
      serving = server.serve(stop.signal)
      await server.ready()
    })
    after(async () => {
      stop.abort()
      await serving
    })

    it('gets the responses that it shows', async () => {
      for (const [command, printed] of exchangesOf(blockWith('$ curl'))) {
        const here = command.replace('localhost:8080', server.httpAddr()).replace('curl ', 'curl -s ')
        const { stdout } = await promisify(execFile)('bash', ['-c', here])
        expect(stdout).to.equal(printed)
      }
    })
  })

  it('gets the findings that it shows', async () => {
    const [[command = '', printed] = []] = exchangesOf(blockWith('planted-hole.js'))
    const [, , ...args] = command.replace('dist/', `${compiled}/`).split(' ')
    const { exit, stdout } = await runCli('ashlar', args)
    expect(stdout.trimEnd()).to.equal(printed)
    expect(exit).to.equal(1)
  })
})
