import type { DescService } from '@bufbuild/protobuf'
import { InvalidArgument } from '../../../errors.js'
import { parsePathTemplate, type Segment } from '../../../gateway/routing/path-template.js'
import { pathsOf } from '../../../resource/messages/http-paths.js'
import type { ResourceModel } from '../../../resource/resource-model.js'

/**
 * The key format of a resource without a name pattern, taken from its Get path: `notes/*` in
 * `/v1/{name=notes/*}`.
 */
export interface KeyShape {
  /**
   * @throws InvalidArgument for a key that the path cannot contain, because the resource could not be read
   *   over HTTP.
   */
  check(key: string, field: string): void
}

/** Returns the key format; undefined if a path of Get accepts any key, or if there is no Get path. */
export const keyShape = (
  { methods }: DescService,
  { message, key, name }: ResourceModel,
): KeyShape | undefined => {
  const get = methods.find((method) => method.name === `Get${message?.name ?? ''}`)
  if (name !== undefined || get === undefined) return undefined
  const shapes = pathsOf(get).map((path) => boundBy(path, key.proto))
  if (shapes.length === 0 || shapes.some((shape) => shape.length < 2)) return undefined
  const text = shapes.map((shape) => shape.map(textOf).join('/')).join(' or ')
  return {
    check(given, field) {
      const parts = given.split('/')
      if (!shapes.some((shape) => fits(parts, shape)))
        throw new InvalidArgument(field, `must look like ${text}, as in the path of ${get.name}`)
    },
  }
}

/**
 * Returns the segments that the path binds to the field. Returns none if it binds none or is invalid; the
 * gateway reports invalid paths.
 */
const boundBy = (path: string, field: string): readonly Segment[] => {
  try {
    const { segments, variables } = parsePathTemplate(path)
    const variable = variables.find((one) => one.field === field)
    return variable === undefined ? [] : segments.slice(variable.from, variable.to)
  } catch {
    return []
  }
}

const textOf = (segment: Segment): string =>
  segment.kind === 'literal' ? segment.text : segment.kind === 'one' ? '*' : '**'

/** Returns true if the parts match the pattern. `**` comes last and may match nothing. */
const fits = (parts: readonly string[], shape: readonly Segment[]): boolean => {
  const isOpen = shape.at(-1)?.kind === 'rest'
  if (isOpen ? parts.length < shape.length - 1 : parts.length !== shape.length) return false
  return parts.every((part, at) => {
    const segment = shape[at]
    return segment?.kind === 'literal' ? part === segment.text : part !== ''
  })
}
