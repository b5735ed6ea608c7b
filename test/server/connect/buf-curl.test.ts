import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { create, type DescFile, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { callService } from '../../support/connect/call-service.js'
import { CallService, file_calls } from '../../support/gen/calls_pb.js'
import { enginesFolder } from '../../support/databases/better-sqlite3.js'
import { ALICE, type RunningServer, startServer } from '../../support/servers/server.js'

const run = promisify(execFile)

const BUF = join(enginesFolder, 'node_modules/@bufbuild/buf-linux-x64/bin/buf')

/** A client that others have written, over all three protocols: gRPC has its own port. */
const suite = process.platform === 'linux' && process.arch === 'x64' ? describe : describe.skip
suite('buf curl', function () {
  let running: RunningServer
  let folder: string
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-buf-'))
    writeFileSync(join(folder, 'image.binpb'), image())
    running = await startServer((builder) => builder.register(CallService, callService), {
      gateway: { connect: true },
    })
  })
  after(async () => {
    await running.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const curl = async (
    protocol: string,
    method: string,
    body: object,
  ): Promise<{ out: string; failed: string }> => {
    const origin = protocol === 'grpc' ? `http://${running.grpc}` : running.http
    const flags = [
      ...['--schema', join(folder, 'image.binpb'), '--protocol', protocol, '--data', JSON.stringify(body)],
      ...(protocol === 'grpc' ? ['--http2-prior-knowledge'] : []),
      ...Object.entries(ALICE).flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
    ]
    const all = ['curl', ...flags, `${origin}/calls.v1.CallService/${method}`]
    const env = { ...process.env, BUF_CACHE_DIR: folder }
    try {
      const { stdout } = await run(BUF, all, { env, timeout: 60_000 })
      return { out: stdout, failed: '' }
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string }
      return { out: stdout, failed: stderr }
    }
  }

  for (const protocol of ['connect', 'grpcweb', 'grpc'])
    it(`calls, follows a stream and reads an error over ${protocol}`, async () => {
      const big = '9007199254740993'
      expect(JSON.parse((await curl(protocol, 'Call', { number: big })).out)).to.include({ number: big })
      const { out } = await curl(protocol, 'Follow', { data: ['AQ==', 'Ag==', 'Aw=='], number: '1' })
      expect(out.match(/"data"/g)?.length).to.be.at.least(3)
      const failure = { code: 9, message: 'not today', details: [{ name: 'why' }] }
      const { failed } = await curl(protocol, 'Call', { failure })
      expect(failed).to.include('failed_precondition').and.include('not today').and.include('calls.v1.Header')
    })
})

/** The descriptors of the service and of all that it imports. */
function image(): Uint8Array {
  const files = new Map<string, DescFile>()
  const add = (file: DescFile): void => {
    file.dependencies.forEach(add)
    files.set(file.proto.name, file)
  }
  add(file_calls)
  return toBinary(
    FileDescriptorSetSchema,
    create(FileDescriptorSetSchema, { file: [...files.values()].map(({ proto }) => proto) }),
  )
}
