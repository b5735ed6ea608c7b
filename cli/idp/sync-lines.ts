import type { Paint } from '../output/paint.js'
import { terminalLine } from '../output/terminal-line.js'
import { GUESSABLE } from './clients.js'
import type { SyncReport } from './sync-clients.js'

/** Formats the report. */
export function syncLines(report: SyncReport, paint: Paint): readonly string[] {
  const { added, changed, removed, state } = report
  return [
    ...report.sources.map(
      ({ source, apps }) => `${paint.dim('from')} ${source}: ${apps.map(id).join(', ') || 'no apps'}`,
    ),
    ...added.map((client) => `  ${paint.good('new')}      ${id(client)}`),
    ...changed.map(
      ({ client_id, fields }) =>
        `  ${paint.warn('changed')}  ${id(client_id)} (${fields.map(id).join(', ')})`,
    ),
    ...removed.map((client) => `  ${paint.bad('gone')}     ${id(client)}`),
    `${paint.bold(terminalLine(report.out))} ${ENDINGS[state](report)}`,
  ]
}

const ENDINGS: Readonly<Record<SyncReport['state'], (report: SyncReport) => string>> = {
  written: ({ clients }) => `now lists ${count(clients)}. ${GUESSABLE}`,
  unchanged: ({ clients }) => `already lists ${count(clients)}: nothing was written`,
  differs: ({ clients }) => `differs: a sync would make it list ${count(clients)}`,
}

const id = (text: string): string => terminalLine(text, 100)

const count = ({ length }: readonly unknown[]): string => (length === 1 ? '1 client' : `${length} clients`)
