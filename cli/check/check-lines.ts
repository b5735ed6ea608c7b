import { tableDifferenceText } from '../../lib/text/table-difference.js'
import { counted } from '../output/counted.js'
import type { Paint } from '../output/paint.js'
import { terminalLine } from '../output/terminal-line.js'
import type { CheckedResource, ProjectCheck } from './project-check.js'

/** Returns the table of classes, followed by the notes. */
export function tableLines(
  { resources, notes }: Omit<ProjectCheck, 'problems'>,
  paint: Paint,
): readonly string[] {
  return [
    ...resources.flatMap((resource) => resourceLines(resource, paint)),
    ...notes.map((note) => `${paint.warn('note')} ${terminalLine(note, MAX_LENGTH)}`),
  ]
}

/** Returns a line with the number of problems, and a line for each. */
export function problemLines({ problems, resources }: ProjectCheck, paint: Paint): readonly string[] {
  if (problems.length === 0)
    return [paint.good(`no problems in ${counted(resources.length, 'class', 'classes')}`)]
  return [
    paint.bad(`${counted(problems.length, 'problem')}:`),
    ...problems.map(({ text }) => `  - ${terminalLine(text, MAX_LENGTH)}`),
  ]
}

function resourceLines(resource: CheckedResource, paint: Paint): readonly string[] {
  const { entity, type, table, message, fields, code, unmanaged, notes, differences } = resource
  const row = (name: string, text: string) =>
    `  ${paint.dim(name.padEnd(LONGEST_NAME))}  ${terminalLine(text, MAX_LENGTH)}`
  const list = (name: string, values: readonly string[]) =>
    values.length === 0 ? [] : [row(name, values.join(', '))]
  if (table === undefined) return [`${paint.bold(entity)}: ${paint.bad('its declarations have problems')}`]
  return [
    `${paint.bold(entity)}: resource ${type}, table ${table}${message === undefined ? '' : `, message ${message}`}`,
    ...list('fields', fields),
    ...list('code only', code),
    ...list('not managed', unmanaged),
    ...differences.map((one) => row('differs', tableDifferenceText(one))),
    ...notes.map((note) => row('note', note)),
  ]
}

const LONGEST_NAME = 'not managed'.length
const MAX_LENGTH = 2_000
