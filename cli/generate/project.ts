import {
  createFileRegistry,
  type DescField,
  type DescMessage,
  type FileRegistry,
  getOption,
  hasOption,
} from '@bufbuild/protobuf'
import type { FileDescriptorSet } from '@bufbuild/protobuf/wkt'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FieldBehavior, field_behavior } from 'ashlar-annotations/google/api/field_behavior_pb.js'
import { resource } from 'ashlar-annotations/google/api/resource_pb.js'
import { nearestNames } from '../../lib/text/nearest-names.js'
import { Failure } from '../errors/failure.js'
import { describedProtos } from '../proto/buf.js'
import { type Registration, REGISTRATIONS } from './service-file.js'

/** The folder of a project's own .proto files. */
export const PROTO_FOLDER = 'proto'

/** A project in the layout of `ashlar new`. */
export interface Project {
  readonly folder: string
  readonly registration: Registration
  readonly set: FileDescriptorSet
  readonly registry: FileRegistry
  /** The resources in its own .proto files: messages with a name pattern. */
  readonly resources: readonly Resource[]
  /** The packages of its own .proto files. */
  readonly packages: readonly string[]
}

export interface Resource {
  readonly message: DescMessage
  /** The type, such as `shop.example.com/Task`. */
  readonly type: string
  readonly pattern: string
  readonly plural: string
}

/** @throws {Failure} for a folder that is not such a project, or if its .proto files do not compile. */
export async function projectIn(folder: string): Promise<Project> {
  const registration = REGISTRATIONS.find(({ list }) => existsSync(join(folder, list)))
  if (registration === undefined || !existsSync(join(folder, 'src/entities.ts')))
    throw new Failure(
      'input',
      'this is not a project that ashlar new wrote: src/entities.ts, src/services.ts or src/modules.ts is missing; change to its folder',
    )
  const set = await describedProtos(folder)
  const registry = createFileRegistry(set)
  const own = [...registry.files].filter(({ proto }) => existsSync(join(folder, PROTO_FOLDER, proto.name)))
  return {
    folder,
    registration,
    set,
    registry,
    resources: own.flatMap(({ messages }) => messages).flatMap(resourceOf),
    packages: [...new Set(own.map(({ proto }) => proto.package))],
  }
}

function resourceOf(message: DescMessage): readonly Resource[] {
  if (!hasOption(message, resource)) return []
  const { type, pattern, plural } = getOption(message, resource)
  return [{ message, type, pattern: pattern[0] ?? '', plural }]
}

/** Returns the text of one of the project's own .proto files. */
export const protoText = ({ folder }: Project, name: string): string =>
  readFileSync(join(folder, PROTO_FOLDER, name), 'utf8')

/**
 * Returns the resource with that name.
 * @throws {Failure} if there is none, or if several packages have one.
 */
export function resourceNamed({ resources }: Project, name: string): Resource {
  const found = resources.filter(
    ({ message }) => message.name === name || message.name.toLowerCase() === name.toLowerCase(),
  )
  const [only] = found
  if (only === undefined) {
    const known = resources.map(({ message }) => message.name)
    const [near] = nearestNames(name, known)
    throw new Failure(
      'input',
      `there is no resource ${name}: ${near === undefined ? `the project has ${known.join(', ') || 'none'}` : `did you mean ${near}?`}`,
    )
  }
  if (found.length > 1)
    throw new Failure(
      'input',
      `several packages have a resource ${name}: this command identifies resources by name`,
    )
  return only
}

/** Returns true if a client must send the field. */
export const isRequired = (field: DescField): boolean =>
  getOption(field, field_behavior).includes(FieldBehavior.REQUIRED)

/** Returns true if only the server writes the field, or if it is the name. */
export const isSetByServer = (field: DescField): boolean => {
  const behavior = getOption(field, field_behavior)
  return behavior.includes(FieldBehavior.OUTPUT_ONLY) || behavior.includes(FieldBehavior.IDENTIFIER)
}
