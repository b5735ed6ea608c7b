import { create, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema, SourceCodeInfoSchema } from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { firstDifference } from '../../../cli/openapi/first-difference.js'
import { file_widgets } from '../../../examples/widgets/gen/widgets_pb.js'
import { expectGolden } from '../../support/golden.js'
import { compiled } from '../../support/root.js'
import type { Ran } from '../../support/run-cli.js'
import { runCommand } from '../../support/run-command.js'

const GENERATED = join(compiled, 'examples', 'widgets', 'gen', 'widgets_pb.js')
const SERVED = join(compiled, 'test', 'support', 'entities', 'served-widgets.js')

/** In front of the first message. */
const COMMENT = { path: [4, 0], span: [0, 0, 0], leadingComments: ' Made <b>here</b>.\n' }

describe('ashlar openapi', function () {
  let folder: string
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'ashlar-openapi-'))))
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const openapi = (...args: readonly string[]): Promise<Ran> =>
    runCommand(['openapi', ...args], { cwd: folder })

  it('prints the document of generated services', async () => {
    const { exit, stdout, stderr } = await openapi(GENERATED)
    expect([exit, stderr]).to.deep.equal([0, ''])
    expectGolden('openapi/widgets-generated.txt', stdout)
  })

  it('writes the document of a builder that a function makes, with its model', async () => {
    const out = join(folder, 'openapi.json')
    expect(await openapi(SERVED, '--out', out)).to.include({ exit: 0, stdout: '', stderr: '' })
    expectGolden('openapi/widgets-served.txt', readFileSync(out, 'utf8'))
  })

  it('says with --check which line of a file differs, and writes nothing', async () => {
    const out = join(folder, 'openapi.json')
    const args = [GENERATED, '--out', out, '--check']
    const missing = await openapi(...args)
    expect([missing.exit, missing.stdout]).to.deep.equal([1, ''])
    expect(missing.stderr).to.include('there is no such file')
    await openapi(GENERATED, '--out', out)
    expect(await openapi(...args)).to.include({ exit: 0, stdout: '', stderr: '' })
    const edited = readFileSync(out, 'utf8').replace('"title": "widgets.v1"', '"title": "Mine"')
    writeFileSync(out, edited)
    const differing = await openapi(...args)
    expect(differing.exit).to.equal(1)
    expect(differing.stderr).to.include('line 4 is').and.include('Mine').and.include('widgets.v1')
    expect(readFileSync(out, 'utf8')).to.equal(edited)
  })

  it('refuses --check without --out', async () => {
    expect((await openapi(GENERATED, '--check')).exit).to.equal(2)
  })

  it('takes the comments of an image', async () => {
    const image = join(folder, 'image.binpb')
    const withImports = (file: typeof file_widgets): (typeof file_widgets)['proto'][] => [
      ...file.dependencies.flatMap(withImports),
      file.proto,
    ]
    const files = [...new Map(withImports(file_widgets).map((file) => [file.name, file])).values()]
    const commented = files.map((file) =>
      file.name === 'widgets.proto'
        ? { ...file, sourceCodeInfo: create(SourceCodeInfoSchema, { location: [COMMENT] }) }
        : file,
    )
    writeFileSync(
      image,
      toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: commented })),
    )
    const { exit, stdout, stderr } = await openapi(GENERATED, '--image', image)
    expect([exit, stderr]).to.deep.equal([0, ''])
    const { components } = JSON.parse(stdout) as {
      components: { schemas: Record<string, { description?: string }> }
    }
    expect(components.schemas['widgets.v1.Widget']?.description).to.equal('Made &lt;b>here&lt;/b>.')
  })

  it('refuses an image that is none, and one that is not there', async () => {
    const image = join(folder, 'image.binpb')
    expect((await openapi(GENERATED, '--image', image)).exit).to.equal(2)
    writeFileSync(image, 'no image')
    const { exit, stderr } = await openapi(GENERATED, '--image', image)
    expect(exit).to.equal(2)
    expect(stderr).to.include('FileDescriptorSet')
  })
})

describe('the first difference', () => {
  for (const [name, found, wanted, reported] of [
    ['is none of the same text', 'a\nb\n', 'a\nb\n', undefined],
    ['is that there is no file', undefined, 'a\n', 'there is no such file'],
    ['is a changed line', 'a\n x\n', 'a\nb\n', 'line 2 is "x" and must be "b"'],
    ['is a missing line', 'a', 'a\nb', 'line 2 is missing and must be "b"'],
    ['is a line too many', 'a\nb', 'a', 'line 2 is "b" and must be missing'],
  ] as const)
    it(name, () => {
      expect(firstDifference(found, wanted)).to.equal(reported)
    })
})
