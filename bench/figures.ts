import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { format, resolveConfig } from 'prettier'
import {
  type RecordedComparison,
  recordedRun,
  type RecordedRun,
  type RecordedSpread,
} from './recorded-runs.js'
import { sizesOfOrders } from './source-size.js'

/** `npm run figures`: writes the figures of recorded runs and sources into the documentation pages. */
const ROOT = join(import.meta.dirname, '..', '..')
const BLOCK = /^(\[\/\/\]: # 'figures: ([\w-]+)'\n).*?^(\[\/\/\]: # 'figures end')$/gms
export const PAGES_WITH_FIGURES: readonly string[] = [
  'README.md',
  'docs/index.md',
  'docs/guides/scaling.md',
  'docs/internals/benchmarks.md',
]

/** Returns a page with the figures of the current records. */
export async function pageWithFigures(page: string): Promise<string> {
  const path = join(ROOT, page)
  const written = readFileSync(path, 'utf8').replaceAll(
    BLOCK,
    (_, begin: string, name: string, end: string) => {
      const block = BLOCKS[name]
      if (block === undefined) throw new TypeError(`${page} has a block "${name}", which no function writes`)
      return `${begin}\n${block()}\n\n${end}`
    },
  )
  return format(written, { ...(await resolveConfig(path)), filepath: path })
}

/** Returns a page without its blocks of figures. */
export const withoutFigures = (text: string): string => text.replaceAll(BLOCK, '')

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

const two = (value: number | undefined): string => value?.toFixed(2) ?? ''
const spread = (of: RecordedSpread | undefined): string =>
  of === undefined
    ? ''
    : of.min === undefined || of.max === undefined
      ? two(of.median)
      : `${two(of.median)} [${two(of.min)}–${two(of.max)}]`
const count = (value: number): string => value.toLocaleString('en')

/** Returns the line above a table: the command, the date and the machine. */
function reported(run: RecordedRun): string {
  const note = run.note === undefined ? '' : ` ${run.note}`
  return `\`${run.command}\`, ${run.date}, Node ${run.node}: ${run.machine}.${note}`
}

const WHAT: Readonly<Record<string, string>> = {
  'rpc/echo': 'echo',
  'stack/get': 'Get over gRPC',
  'stack/list': 'List 50 over gRPC',
  'stack/create': 'Create over gRPC',
  'stack/update': 'Update over gRPC',
  'gateway/get': 'GET one',
  'gateway/list': 'GET a page of 50',
  'startup/first response': 'first response',
}

const CALLS: Readonly<Record<string, string>> = {
  get: 'Get',
  list: 'List 50',
  create: 'Create',
  update: 'Update',
}

/** Returns Ashlar's CPU time divided by a peer's: the median, and the lowest and highest round. */
function costOf(
  run: RecordedRun,
  against: string,
  subject: string,
  operation: string,
  callers: number,
): string {
  const row = (run.comparisons ?? []).find(
    (one) =>
      one.against === against &&
      one.subject === subject &&
      one.operation === operation &&
      one.concurrency === callers,
  )
  if (row === undefined) throw new TypeError(`no run of ${subject} against ${against} is recorded`)
  const { median, min, max } = row.cpuRatio
  return spread({
    median: 1 / median,
    ...(min !== undefined && max !== undefined && { min: 1 / max, max: 1 / min }),
  })
}

function idleMegabytes(run: RecordedRun): readonly [string, string] {
  const [, ours = '', theirs = ''] =
    (run.notes ?? [])
      .map((line) => /^idle, resident: ashlar ([\d.]+) MB, NestJS and TypeORM ([\d.]+) MB/.exec(line))
      .find((match) => match !== null) ?? []
  if (ours === '') throw new TypeError('no run has recorded the idle memory')
  return [Number(ours).toFixed(0), Number(theirs).toFixed(0)]
}

function figuresOf(run: RecordedRun): string {
  const figures = run.figures ?? []
  const columns = Object.keys(figures[0]?.values ?? {})
  const cell = (unit: string, value = Number.NaN) => (unit === '' ? two(value) : `${count(value)}${unit}`)
  const rows = figures.map(({ what, unit, values }) => [
    what,
    ...columns.map((column) => cell(unit, values[column])),
  ])
  return `${reported(run)}\n\n${table(['what', ...columns], rows)}`
}

const callersOf = (rows: readonly RecordedComparison[], of: (row: RecordedComparison) => string): string =>
  rows
    .toSorted((a, b) => a.concurrency - b.concurrency)
    .map(of)
    .filter((text) => text !== '')
    .join(', ')

const MATRIX = /^\[\/\/\]: # 'matrix'\n(.*)^\[\/\/\]: # 'matrix end'$/ms

const BLOCKS: Readonly<Record<string, () => string>> = {
  cost() {
    const [servers, repository] = [recordedRun('servers'), recordedRun('repository')]
    const [ours, theirs] = idleMegabytes(servers)
    const [code, proto, peer] = sizesOfOrders().map(({ lines }) => lines)
    const all = (code ?? 0) + (proto ?? 0)
    const statements = (database: string) =>
      (recordedRun('database').figures ?? []).map(
        ({ what, unit, values }) => `${what} ${values[database] ?? ''}${unit}`,
      )
    const delivered = recordedRun('events').figures?.find(({ what }) => what.startsWith('delivered'))
    const each = (
      run: RecordedRun,
      against: string,
      subject: string,
      callers: number,
      calls: readonly string[],
    ) =>
      calls.map((call) => `${CALLS[call] ?? call} ${costOf(run, against, subject, call, callers)}`).join('; ')
    const calls = ['get', 'list', 'create', 'update']
    return table(
      ['what', 'one caller', '64 callers'],
      [
        [
          'time of PostgreSQL per call, without spread',
          statements('PostgreSQL, alone').join(', '),
          statements('PostgreSQL, 64 callers').join(', '),
        ],
        [
          'the repository alone, against prepared `pg` by hand',
          each(repository, 'raw pg', 'postgres', 1, calls),
          each(repository, 'raw pg', 'postgres', 64, calls),
        ],
        [
          'a gRPC service, against NestJS and TypeORM',
          'not measured',
          each(servers, 'NestJS and TypeORM', 'stack', 64, calls),
        ],
        [
          'a gRPC service, against grpc-js and `pg` by hand',
          'not measured',
          each(servers, 'grpc-js and pg', 'stack', 64, calls),
        ],
        [
          'HTTP/JSON, against Fastify and `pg` by hand',
          'not measured',
          each(servers, 'fastify and pg', 'gateway', 64, ['get', 'list']),
        ],
        ['memory when idle', `${ours} MB; NestJS with TypeORM ${theirs} MB`, ''],
        [
          'first response of a new process, against NestJS and TypeORM',
          costOf(servers, 'NestJS and TypeORM', 'startup', 'first response', 1),
          '',
        ],
        [
          'events delivered to NATS, from PostgreSQL',
          `${count(delivered?.values['PostgreSQL'] ?? Number.NaN)} a second`,
          '',
        ],
        [
          '[an order service](examples/orders/main.ts), against Fastify and Kysely',
          `${all} lines (${code} of TypeScript, ${proto} of .proto); ${peer} lines, without gRPC, filters, idempotency and events`,
          '',
        ],
      ],
    )
  },

  servers() {
    const run = recordedRun('servers')
    let last = ''
    const rows = (run.comparisons ?? []).map((row) => {
      const key = `${row.subject}/${row.operation}`
      const what = key === last ? '' : (WHAT[key] ?? key)
      last = key
      return [
        ...[what, row.against, spread(row.ratio), spread(row.cpuRatio), two(row.leastCpuRatio)],
        ...[two(row.goal), two(row.p99Ratio?.median), two(row.ceiling?.median)],
      ]
    })
    const head = ['what', 'against', 'ratio', 'cpu', 'least', 'goal', 'p99', 'ceiling']
    const dearer = (run.comparisons ?? [])
      .filter(({ cpuRatio }) => cpuRatio.median < 1)
      .map(({ subject, operation, against }) => `${WHAT[`${subject}/${operation}`]} against ${against}`)
    return `${reported(run)}\n\nAshlar costs more than the peer in: ${dearer.join('; ')}.\n\n${table(head, rows)}`
  },

  memory() {
    const [ours, theirs] = idleMegabytes(recordedRun('servers'))
    return `Idle memory, medians of the processes: Ashlar ${ours} MB, NestJS with TypeORM ${theirs} MB.`
  },

  repository() {
    const run = recordedRun('repository')
    const all = run.comparisons ?? []
    const rows = [...new Set(all.map(({ operation }) => operation))].map((operation) => {
      const of = (against: string) =>
        all.filter((row) => row.operation === operation && row.against === against)
      const [raw, typeorm] = [of('raw pg'), of('TypeORM')]
      return [
        operation,
        callersOf(raw, ({ concurrency }) => `${concurrency}`),
        callersOf(raw, ({ cpuRatio, goal }) => spread(cpuRatio) + (goal === undefined ? '' : ` (${goal})`)),
        callersOf(raw, ({ leastCpuRatio }) => two(leastCpuRatio)),
        callersOf(raw, ({ ratio }) => two(ratio?.median)),
        callersOf(typeorm, ({ cpuRatio: { median } }) => median.toFixed(median < 10 ? 1 : 0)),
      ]
    })
    const head = ['operation', 'callers', 'cpu, prepared `pg`', 'least', 'ratio', 'cpu, TypeORM']
    return `${reported(run)}\n\n${table(head, rows)}`
  },

  skewed() {
    const [run, long] = [recordedRun('skewed'), recordedRun('skewed-long')]
    const rows = (run.comparisons ?? []).map(({ operation, ratio, cpuRatio }) => {
      const longer = long.comparisons?.find((one) => one.operation === operation)
      return [
        operation,
        ...[spread(ratio), spread(cpuRatio)],
        ...[spread(longer?.ratio), spread(longer?.cpuRatio)],
      ]
    })
    return `${reported(run)}\n\n${table(['operation', 'ratio', 'cpu', 'ratio, long', 'cpu, long'], rows)}`
  },

  keys() {
    const run = recordedRun('keys')
    const all = run.comparisons ?? []
    const types = [...new Set(all.map(({ against }) => against))]
    const same = (one: RecordedComparison, row: RecordedComparison) =>
      one.operation === row.operation && one.concurrency === row.concurrency
    const rows = all
      .filter(({ against }) => against === types[0])
      .map((row) => [
        ...[row.operation, `${row.concurrency}`],
        ...types.flatMap((type) => {
          const found = all.find((one) => one.against === type && same(one, row))
          return [spread(found?.cpuRatio), two(found?.leastCpuRatio)]
        }),
      ])
    const head = ['operation', 'callers', ...types.flatMap((type) => [type, 'least'])]
    return `${reported(run)}\n\n${table(head, rows)}`
  },

  libraries() {
    const run = recordedRun('libraries')
    const all = run.comparisons ?? []
    const peers = [...new Set(all.map(({ against }) => against))]
    const rows = [...new Set(all.map(({ operation }) => operation))].map((operation) => [
      operation,
      ...peers.map((peer) =>
        callersOf(
          all.filter((row) => row.operation === operation && row.against === peer),
          ({ concurrency, cpuRatio, ratio }) =>
            `${spread(cpuRatio)} with ${concurrency}${ratio === undefined ? '' : `, ${two(ratio.median)} times the calls`}`,
        ),
      ),
    ])
    return `${reported(run)}\n\n${table(['operation', ...peers], rows)}`
  },

  relations() {
    const run = recordedRun('relations')
    const all = run.multiples ?? []
    const sides = [...new Set(all.map(({ whole }) => whole))]
    const isSamePage = (one: (typeof all)[number], row: (typeof all)[number]) =>
      one.subject === row.subject && one.operation === row.operation && one.concurrency === row.concurrency
    const rows = all
      .filter((row) => row.whole === 'ashlar')
      .map((row) => [
        `${row.subject === 'relations' ? 'PostgreSQL' : 'SQLite'}, ${row.operation}`,
        `${row.concurrency}`,
        ...sides.map((side) => spread(all.find((one) => isSamePage(one, row) && one.whole === side)?.cpu)),
      ])
    return `${reported(run)}\n\n${table(['page', 'callers', ...sides], rows)}`
  },

  events: () => figuresOf(recordedRun('events')),

  database() {
    const run = recordedRun('database')
    const cost = (call: string) =>
      run.figures?.find(({ what }) => what === call)?.values['PostgreSQL, 64 callers'] ?? Number.NaN
    const load = { Get: 5000, 'List 50': 1000, Update: 500 }
    const terms = Object.entries(load).map(([call, perSecond]) => `${count(perSecond)} × ${cost(call)}`)
    const sum = Object.entries(load).reduce((all, [call, perSecond]) => all + perSecond * cost(call), 0)
    const example = `5,000 Get, 1,000 List and 500 Update a second under load are ${terms.join(' + ')}, which is ${count(sum)} microseconds a second: ${Math.round(sum / 10_000)} % of a core.`
    return `${figuresOf(run)}\n\n${example}`
  },

  /** The comparison with other projects, without source figures. */
  matrix() {
    const [, matrix] = MATRIX.exec(readFileSync(join(ROOT, 'docs/internals/comparison.md'), 'utf8')) ?? []
    if (matrix === undefined) throw new TypeError('the comparison has no matrix')
    return matrix.replaceAll(/ \[\d+\]/g, '').trim()
  },

  orders: () =>
    table(
      ['what', 'lines', 'bytes'],
      sizesOfOrders().map(({ what, lines, bytes }) => [what, count(lines), count(bytes)]),
    ),
}

if (import.meta.filename === process.argv[1])
  for (const page of PAGES_WITH_FIGURES) {
    writeFileSync(join(ROOT, page), await pageWithFigures(page))
    console.log(`wrote ${page}`)
  }
