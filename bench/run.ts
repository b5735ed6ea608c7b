import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { compare, type Comparison, type SideFigures } from './compare.js'
import { SUBJECTS } from './subjects.js'

/** `npm run bench -- [subject...] [--json FILE] [--rounds N] [--ms N]`. */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    ms: { type: 'string', default: '300' },
  },
})
const pace = { rounds: Number(values.rounds), ms: Number(values.ms) }
const unknown = positionals.filter((name) => !SUBJECTS.some((subject) => subject.name === name))
if (unknown.length > 0 || !(pace.rounds >= 1) || !(pace.ms > 0)) {
  console.error(`usage: npm run bench -- [subject...] [--json FILE] [--rounds N] [--ms N]`)
  console.error(`subjects: ${SUBJECTS.map(({ name }) => name).join(', ')}`)
  process.exit(2)
}

const results: Comparison[] = []
for (const subject of SUBJECTS) {
  if (positionals.length > 0 && !positionals.includes(subject.name)) continue
  const unavailable = await subject.unavailable?.()
  if (unavailable !== undefined) {
    console.log(`\n${subject.name}: not measured, ${unavailable}`)
    continue
  }
  if (subject.installs === true) installPeers()
  console.log(`\n${subject.name} (${pace.rounds} rounds of ${pace.ms} ms, ratio above 1: ashlar is faster)`)
  await compare(subject, pace, (comparisons, figures) => {
    results.push(...comparisons)
    print(comparisons, figures)
  })
  for (const line of (await subject.afterwards?.()) ?? []) console.log(`  ${line}`)
}
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, undefined, 2)}\n`)

function print(comparisons: readonly Comparison[], figures: readonly SideFigures[]): void {
  const [first] = comparisons
  if (first === undefined) return
  console.log(`  ${first.operation}, ${first.concurrency} at a time`)
  for (const { side, perSecond, p50Us, p99Us, cpuUs } of figures) {
    const ratio = comparisons.find(({ against }) => against === side)?.ratio
    const columns = [
      `    ${side.padEnd(24)}`,
      `${perSecond.toFixed(0).padStart(9)}/s`,
      ...Object.entries({ p50: p50Us, p99: p99Us, cpu: cpuUs }).map(
        ([name, us]) => `${name} ${us.toFixed(2).padStart(9)} µs`,
      ),
      ratio === undefined
        ? ''
        : `ratio ${ratio.median.toFixed(2)} [${ratio.min.toFixed(2)}-${ratio.max.toFixed(2)}]`,
    ]
    console.log(columns.join('  ').trimEnd())
  }
}

/** Peers are installed once, from their own lock file, never into ours. */
function installPeers(): void {
  const bench = join(import.meta.dirname, '..', '..', 'bench')
  if (existsSync(join(bench, 'node_modules'))) return
  execFileSync('npm', ['--prefix', bench, 'ci'], { stdio: ['ignore', 'inherit', 'inherit'] })
}
