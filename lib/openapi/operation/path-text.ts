import type { Binding } from '../../gateway/routing/bindings.js'
import { singular } from './singular.js'

/** A path in OpenAPI's notation, with one parameter for each variable segment. */
export interface OpenApiPath {
  /** The path, such as `/v1/shelves/{shelf}/books/{book}:publish`. */
  readonly text: string
  readonly parameters: readonly PathParameter[]
}

export interface PathParameter {
  readonly name: string
  /** The variable that contains the segment; undefined if the segment fills no field. */
  readonly variable: Binding['variables'][number] | undefined
  /** True if the variable consists of this segment only. */
  readonly isWhole: boolean
  /** True if it may contain slashes and may be empty. */
  readonly isRest: boolean
}

/**
 * Returns the paths of bindings. Paths that differ only in parameter names are merged, as OpenAPI requires.
 * The shortest name of a segment is used.
 */
export function pathsOf(bindings: readonly Binding[]): ReadonlyMap<Binding, OpenApiPath> {
  const own = bindings.map((binding) => ({
    binding,
    parameters: parametersOf(binding),
    shape: shapeOf(binding),
  }))
  const named = new Map<string, readonly string[]>()
  for (const { shape, parameters } of own) {
    const names = parameters.map(({ name }) => name)
    const known = named.get(shape) ?? names
    named.set(shape, unique(known.map((one, index) => better(one, names[index] ?? one))))
  }
  return new Map(
    own.map(({ binding, parameters, shape }) => {
      const names = named.get(shape) ?? []
      const renamed = parameters.map((parameter, index) => ({
        ...parameter,
        name: names[index] ?? parameter.name,
      }))
      return [binding, { text: textOf(binding, (index) => `{${names[index] ?? ''}}`), parameters: renamed }]
    }),
  )
}

/** Returns a string that is equal for paths that match the same requests. */
const shapeOf = (binding: Binding): string =>
  textOf(binding, (index) => (parametersOf(binding)[index]?.isRest === true ? '{**}' : '{*}'))

function textOf({ template: { segments, verb } }: Binding, parameter: (index: number) => string): string {
  let index = 0
  const path = segments.map((segment) =>
    segment.kind === 'literal' ? escaped(segment.text) : parameter(index++),
  )
  return `/${path.join('/')}${verb === '' ? '' : `:${escaped(verb)}`}`
}

function parametersOf({ template: { segments }, variables }: Binding): readonly PathParameter[] {
  const parameters: PathParameter[] = []
  for (const [at, { kind }] of segments.entries()) {
    if (kind === 'literal') continue
    const variable = variables.find(({ from, to = segments.length }) => from <= at && at < to)
    const isWhole =
      variable !== undefined && variable.from === at && (variable.to ?? segments.length) === at + 1
    const before = segments[at - 1]
    const noun =
      before?.kind === 'literal' && variable !== undefined && variable.from !== at
        ? singular(before.text)
        : undefined
    const name = (isWhole ? undefined : noun) ?? variable?.field ?? `segment${at + 1}`
    parameters.push({ name, variable, isWhole, isRest: kind === 'rest' })
  }
  const names = unique(parameters.map(({ name }) => name))
  return parameters.map((parameter, index) => ({ ...parameter, name: names[index] ?? parameter.name }))
}

const better = (a: string, b: string): string => {
  const weigh = (name: string): number => name.split('.').length * 1000 + name.length
  return weigh(b) < weigh(a) || (weigh(a) === weigh(b) && b < a) ? b : a
}

function unique(names: readonly string[]): readonly string[] {
  const taken = new Set<string>()
  return names.map((name) => {
    let free = name
    for (let number = 2; taken.has(free); number++) free = `${name}_${number}`
    taken.add(free)
    return free
  })
}

/** Escapes a literal for a URL. */
const escaped = (text: string): string =>
  encodeURIComponent(text).replaceAll(/%(?:3A|40|24|26|2B|2C|3B|3D)/g, (code) => decodeURIComponent(code))
