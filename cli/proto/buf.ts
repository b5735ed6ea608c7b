import { fromBinary } from '@bufbuild/protobuf'
import { type FileDescriptorSet, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { Failure } from '../errors/failure.js'
import { runTool, toolOf } from './project-tool.js'

const PACKAGE = '@bufbuild/buf'

/** Returns the first lines of buf's output on one line: `proto/shop/v1/task.proto:4:3:syntax error`. */
const firstLines = (text: string): string => text.trim().split('\n').slice(0, 5).join('; ')

export const bufOf = (folder: string): string => toolOf(folder, 'buf', PACKAGE)

/**
 * Returns the descriptors of a project's .proto files and their imports, with the positions of all
 * declarations.
 * @param image - an image of an earlier version to read instead.
 * @throws {Failure} with buf's output if they do not compile.
 */
export async function describedProtos(folder: string, image?: string): Promise<FileDescriptorSet> {
  const { exit, stdout, stderr } = await runTool(
    bufOf(folder),
    ['build', ...(image === undefined ? [] : [image]), '--output', '-#format=binpb'],
    folder,
  )
  if (exit !== 0) throw new Failure('input', `the .proto files do not compile: ${firstLines(stderr)}`)
  return fromBinary(FileDescriptorSetSchema, stdout)
}

/**
 * Generates code as configured in buf.gen.yaml.
 * @throws {Failure} with buf's output.
 */
export async function generateCode(folder: string): Promise<void> {
  const { exit, stderr } = await runTool(bufOf(folder), ['generate'], folder)
  if (exit !== 0) throw new Failure('input', `buf generate failed: ${firstLines(stderr)}`)
}
