import { fromBinary } from '@bufbuild/protobuf'
import { CodeGeneratorRequestSchema } from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { hasBuf, type LinkedProject, linkedProject, linkPackage } from '../support/projects/linked-project.js'
import { type StartedProject, startedProject } from '../support/projects/started-project.js'
import { leftOut } from '../support/running/summary.js'
import { type Block, blocksOf } from '../support/sources/documents.js'

const PAGE = 'docs/guides/other-languages.md'
/** What installs a tool or a package: the packages are linked, and a missing tool is named. */
const INSTALLS = /^(go|npm) install /
/** A plugin of buf that writes the request that it gets into a folder. */
const recorder = (folder: string) => `#!/usr/bin/env node
import { readFileSync, writeFileSync } from 'node:fs'
writeFileSync(${JSON.stringify(folder)} + '/' + process.pid, readFileSync(0))
`

const suite = hasBuf ? describe : describe.skip
suite('the guide Clients in other languages', function () {
  const blocks = blocksOf(PAGE)
  const left = new Set(blocks)
  let project: LinkedProject
  let server: StartedProject

  before(async () => {
    project = await linkedProject('shop', ['--database', 'sqlite', '--no-nest', '--auth', 'headers'])
    expect(project.build()).to.deep.equal([])
    server = await startedProject(project)
  })
  after(async () => {
    await server?.stop()
    if (project !== undefined) rmSync(dirname(project.folder), { recursive: true, force: true })
  })

  const block = (language: string, part: string): Block => {
    const found = blocks.find((one) => one.language === language && one.text.includes(part))
    if (found === undefined) throw new Error(`${PAGE} has no block of ${language} with ${part}`)
    left.delete(found)
    return found
  }
  /** The text of a block with the addresses of this server. */
  const ours = ({ text }: Block): string =>
    text.replaceAll('localhost:9090', server.grpcAddress).replaceAll('http://localhost:8080', server.url)
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(project.folder, path)), { recursive: true })
    writeFileSync(join(project.folder, path), text)
  }
  /** What the commands of a block print. */
  const run = (commands: Block): string =>
    ours(commands)
      .split('\n')
      .filter((line) => !INSTALLS.test(line))
      .map((line) =>
        execFileSync('bash', ['-ec', `npx() { "$@"; }\n${line}`], {
          cwd: project.folder,
          env: project.env,
          encoding: 'utf8',
          stdio: 'pipe',
        }),
      )
      .join('')
  /** Whether the machine has the tools; the summary of the run names those that it lacks. */
  const has = (subject: string, ...tools: readonly string[]): boolean => {
    const missing = tools.filter((tool) => spawnSync('which', [tool], { env: project.env }).status !== 0)
    if (missing.length > 0) leftOut(subject, `${missing.join(', ')} not found`)
    return missing.length === 0
  }

  it('sets go_package by managed mode, and only in files that have none', () => {
    const template = block('yaml', 'go_package_prefix').text
    write('buf.gen.go.yaml', template)
    const requests = join(project.folder, 'requests')
    mkdirSync(requests)
    write('recorder.mjs', recorder(requests))
    const local = `local: [node, recorder.mjs]`
    write('recorded.yaml', template.replaceAll(/local: protoc-gen-go\S*/g, local))
    execFileSync('buf', ['generate', '--template', 'recorded.yaml'], {
      cwd: project.folder,
      env: project.env,
    })
    const packages = new Map<string, string | undefined>()
    const generated = new Set<string>()
    for (const name of readdirSync(requests)) {
      const request = fromBinary(CodeGeneratorRequestSchema, readFileSync(join(requests, name)))
      for (const file of request.fileToGenerate) generated.add(file)
      for (const { name: file, options } of request.protoFile) packages.set(file, options?.goPackage)
    }
    expect([...generated].sort()).to.deep.equal(['ashlar/api/v1/annotations.proto', 'shop/v1/project.proto'])
    expect(packages.get('shop/v1/project.proto')).to.equal('example.com/shop-client/gen/shop/v1;shopv1')
    expect(packages.get('ashlar/api/v1/annotations.proto')).to.equal(
      'example.com/shop-client/gen/ashlar/api/v1;apiv1',
    )
    for (const [file, name] of packages)
      if (!generated.has(file)) expect(name, file).to.match(/^google\.golang\.org\//)
  })

  it('generates and runs the Go client', function () {
    const subject = 'the Go client of the guide Clients in other languages'
    const steps = ['protoc-gen-go@', 'buf.gen.go.yaml', 'go -C client-go run'].map((part) =>
      block('sh', part),
    )
    const program = block('go', 'package main')
    if (!has(subject, 'go', 'protoc-gen-go', 'protoc-gen-go-grpc')) return this.skip()
    write('buf.gen.go.yaml', block('yaml', 'go_package_prefix').text)
    write('client-go/main.go', ours(program))
    try {
      execFileSync('go', ['list', '-m', 'google.golang.org/grpc@latest'], { env: project.env, stdio: 'pipe' })
    } catch {
      leftOut(subject, 'go cannot fetch modules')
      return this.skip()
    }
    expect(steps.map(run).join('')).to.equal('created projects/gemini\nmissing: NotFound\n')
  })

  it('generates and runs the Connect client', () => {
    linkPackage(project.folder, '@connectrpc/connect-web')
    write('buf.gen.node.yaml', block('yaml', 'protoc-gen-es').text)
    write('client-node/main.js', ours(block('js', 'createConnectTransport')))
    expect(run(block('sh', 'buf.gen.node.yaml'))).to.equal('')
    expect(run(block('sh', 'node client-node/main.js'))).to.equal(
      'created projects/vostok\nmissing: NotFound\n',
    )
  })

  it('calls the server with grpcurl', function () {
    const commands = block('sh', 'grpcurl')
    if (!has('grpcurl in the guide Clients in other languages', 'grpcurl')) return this.skip()
    expect(run(commands)).to.match(/shop\.v1\.ProjectService[^]*rpc ListProjects[^]*\{/)
  })

  it('has no block that the other cases leave out', () => {
    expect([...left].map(({ line, language }) => `${line} ${language}`)).to.deep.equal([])
  })
})
