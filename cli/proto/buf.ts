import { fromBinary } from '@bufbuild/protobuf'
import { type FileDescriptorSet, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { Failure } from '../errors/failure.js'
import { runTool, toolOf } from './project-tool.js'

const PACKAGE = '@bufbuild/buf'

/** The first lines of what buf says, on one line: `proto/shop/v1/task.proto:4:3:syntax error`. */
const firstLines = (text: string): string => text.trim().split('\n').slice(0, 5).join('; ')

export const bufOf = (folder: string): string => toolOf(folder, 'buf', PACKAGE)

/**
 * The descriptors of a project's .proto files and of what they import, with the places of all declarations.
 * @param image - of an earlier version of them, in their place.
 * @throws {Failure} with what buf says where they do not compile.
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

/** Generates code as buf.gen.yaml says. @throws {Failure} with what buf says. */
export async function generateCode(folder: string): Promise<void> {
  const { exit, stderr } = await runTool(bufOf(folder), ['generate'], folder)
  if (exit !== 0) throw new Failure('input', `buf generate failed: ${firstLines(stderr)}`)
}
