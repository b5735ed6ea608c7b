import type { Paint } from '../output/paint.js'
import type { EntityReport, FromEntities } from './entity-resources.js'

/** Returns the lines for written files, decorators to add, and omitted properties. */
export function reportLines({ entities, written }: FromEntities, paint: Paint): readonly string[] {
  return [
    ...written.map(
      ({ path, state }) =>
        `${paint.good(state === 'new' || state === 'beside' ? 'written' : 'changed')} ${path}`,
    ),
    ...(written.length === 0 ? ['nothing to change: all files are as they would be written'] : []),
    ...entities.flatMap((one) => ['', ...entityLines(one, paint)]),
  ]
}

function entityLines(
  { entity, resource, fields, leftOut, notes, source, decorators }: EntityReport,
  paint: Paint,
) {
  const row = (name: string, text: string) => `  ${paint.dim(name.padEnd('left out'.length))}  ${text}`
  if (resource === undefined) return [`${paint.bold(entity)}: ${notes.join('; ')}`]
  return [
    `${paint.bold(entity)}: resource ${resource}`,
    row('fields', fields.join(', ')),
    ...leftOut.map(({ property, reason }) => row('left out', `${property}: ${reason}`)),
    ...notes.map((note) => row('note', note)),
    ...(decorators.length === 0 ? [] : [`  add to ${source}:`]),
    ...decorators.map((line) => `    ${line}`),
  ]
}
