import { parseArgs } from 'node:util'
import {
  compare,
  type Comparison,
  type Measured,
  type Multiple,
  type Pace,
  type SideFigures,
  type Spread,
} from './compare.js'
import { installPeers } from './install-peers.js'
import { packProject } from './load/packed.js'
import { writeRun } from './recorded-runs.js'
import type { Subject } from './subject.js'
import { SUBJECTS } from './subjects.js'

/** `npm run bench -- [subject...] [--operations A,B] [--against C] [--json FILE] [--rounds N] [--ms N]`. */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'string' },
    rounds: { type: 'string' },
    ms: { type: 'string' },
    operations: { type: 'string' },
    against: { type: 'string' },
  },
})
const paceOf = ({ pace = {} }: Subject): Pace => ({
  rounds: Number(values.rounds ?? pace.rounds ?? 5),
  ms: Number(values.ms ?? pace.ms ?? 300),
  warmUpMs: pace.warmUpMs,
})
const unknown = positionals.filter((name) => !SUBJECTS.some((subject) => subject.name === name))
if (unknown.length > 0 || !(Number(values.rounds ?? 1) >= 1) || !(Number(values.ms ?? 1) > 0)) {
  console.error(
    'usage: npm run bench -- [subject...] [--operations A,B] [--against C] [--json FILE] [--rounds N] [--ms N]',
  )
  console.error(`subjects: ${SUBJECTS.map(({ name }) => name).join(', ')}`)
  process.exit(2)
}

const results: Comparison[] = []
const multiplesOfAll: (Multiple & Measured & { readonly subject: string })[] = []
const notes: string[] = []
for (const whole of SUBJECTS) {
  if (positionals.length > 0 && !positionals.includes(whole.name)) continue
  const subject = narrowed(whole)
  const pace = paceOf(subject)
  const unavailable = await subject.unavailable?.()
  if (unavailable !== undefined) {
    console.log(`\n${subject.name}: not measured, ${unavailable}`)
    continue
  }
  if (subject.installs === true) installPeers()
  if (subject.packs === true) packProject()
  console.log(`\n${subject.name} (${pace.rounds} rounds of ${pace.ms} ms, ratio above 1: ashlar is faster)`)
  await compare(subject, pace, (what, comparisons, figures, multiples) => {
    results.push(...comparisons)
    print(what, comparisons, figures)
    multiplesOfAll.push(...multiples.map((one) => ({ subject: subject.name, ...what, ...one })))
    for (const multiple of multiples) printMultiple(multiple)
  })
  const lines = (await subject.afterwards?.()) ?? []
  notes.push(...lines)
  for (const line of lines) console.log(`  ${line}`)
}
if (values.json !== undefined) {
  const command = ['npm run bench --', ...positionals].join(' ')
  writeRun(values.json, command, { comparisons: results, multiples: multiplesOfAll, notes })
}

function print(
  { operation, concurrency }: Measured,
  comparisons: readonly Comparison[],
  figures: readonly SideFigures[],
): void {
  console.log(`  ${operation}, ${concurrency} at a time`)
  for (const { side, perSecond, p50Us, p99Us, cpuUs } of figures) {
    const against = comparisons.find((comparison) => comparison.against === side)
    const columns = [
      `    ${side.padEnd(24)}`,
      `${perSecond.toFixed(0).padStart(9)}/s`,
      ...Object.entries({ p50: p50Us, p99: p99Us, cpu: cpuUs }).map(
        ([name, us]) => `${name} ${us.toFixed(2).padStart(9)} µs`,
      ),
      against === undefined
        ? ''
        : `ratio ${textOf(against.ratio)}  cpu ${textOf(against.cpuRatio)}  least ${against.leastCpuRatio.toFixed(2)}  p99 ${textOf(against.p99Ratio)}`,
      against?.goal === undefined ? '' : `goal ${against.goal.toFixed(2)}`,
      against?.ceiling === undefined ? '' : `ceiling ${textOf(against.ceiling)}`,
    ]
    console.log(columns.join('  ').trimEnd())
  }
}

function printMultiple({ whole, part, cpu, p50 }: Multiple): void {
  console.log(`    ${whole}: cpu ${textOf(cpu)} times, p50 ${textOf(p50)} times that of ${part}`)
}

function textOf({ median, min, max }: Spread): string {
  return `${median.toFixed(2)} [${min.toFixed(2)}-${max.toFixed(2)}]`
}

/** Returns the subject with only the operations and peers of the command line. */
function narrowed(subject: Subject): Subject {
  const operations = values.operations?.split(',')
  const sides = Object.entries(subject.sides).filter(
    ([name]) => name === 'ashlar' || (values.against ?? name) === name,
  )
  return {
    ...subject,
    operations: subject.operations.filter((name) => operations?.includes(name) ?? true),
    sides: Object.fromEntries(sides) as unknown as Subject['sides'],
  }
}
