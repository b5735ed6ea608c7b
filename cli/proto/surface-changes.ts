import {
  createFileRegistry,
  type DescMessage,
  type FileRegistry,
  getOption,
  hasOption,
} from '@bufbuild/protobuf'
import type { FileDescriptorSet } from '@bufbuild/protobuf/wkt'
import { resource } from 'ashlar-annotations/google/api/resource_pb.js'
import { FieldChanges } from './field-changes.js'
import { httpChanges } from './http-changes.js'
import { declaredAt } from './declared-at.js'
import type { SurfaceChange } from './surface-change.js'

/**
 * Returns the changes, other than wire and JSON changes, that break clients of the earlier version: missing
 * or changed services, methods, HTTP routes and resource names, and fields with other read or write rules.
 * Additions break nothing.
 */
export function surfaceChanges(now: FileDescriptorSet, earlier: FileDescriptorSet): readonly SurfaceChange[] {
  const registry = createFileRegistry(now)
  const before = createFileRegistry(earlier)
  return [
    ...serviceChanges(registry, before),
    ...messagesOf(before).flatMap((message) =>
      resourceChanges(registry.getMessage(message.typeName), message),
    ),
  ]
}

function serviceChanges(registry: FileRegistry, before: FileRegistry): readonly SurfaceChange[] {
  const changes: SurfaceChange[] = []
  const fields = new FieldChanges()
  for (const earlier of [...before.files].flatMap(({ services }) => services)) {
    const service = registry.getService(earlier.typeName)
    if (service === undefined) {
      const { name: file } = earlier.file.proto
      changes.push({ file, line: 1, kind: 'service-removed', service: earlier.typeName })
      continue
    }
    for (const old of earlier.methods) {
      const method = service.methods.find(({ name }) => name === old.name)
      if (method === undefined) {
        const where = { ...declaredAt(service), service: service.typeName, method: old.name }
        changes.push({ ...where, kind: 'method-removed' })
        continue
      }
      changes.push(...httpChanges(method, old))
      fields.ofMethod(method, old)
    }
  }
  return [...changes, ...fields.found]
}

const messagesOf = (registry: FileRegistry): readonly DescMessage[] =>
  [...registry].filter((desc) => desc.kind === 'message')

/** Returns the changes of a resource. For a removed message, the methods that used it report the change. */
function resourceChanges(message: DescMessage | undefined, earlier: DescMessage): readonly SurfaceChange[] {
  if (message === undefined || !hasOption(earlier, resource)) return []
  const at = declaredAt(message)
  const { type: was, pattern: patterns } = getOption(earlier, resource)
  const { type: now, pattern } = getOption(message, resource)
  const shapes = new Set(pattern.map(shapeOf))
  const changes: SurfaceChange[] = []
  if (now !== was) changes.push({ ...at, kind: 'resource-type-changed', message: message.name, was, now })
  if (now !== '' && !shapes.has('*'))
    for (const one of patterns)
      if (!shapes.has(shapeOf(one)))
        changes.push({ ...at, kind: 'resource-pattern-removed', type: now, pattern: one })
  return changes
}

/**
 * Normalizes a pattern. Patterns that differ only in the names of variables match the same resource names.
 */
const shapeOf = (pattern: string): string => pattern.replace(/\{[^{}=]*(=\*\*)?\}/g, '{$1}')
