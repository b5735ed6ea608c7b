import type { Paint } from '../../output/paint.js'
import { terminalLine } from '../../output/terminal-line.js'
import type { Rollout } from '../rollout/rollout.js'

const MOST_FAILURES = 10

/** What became of the calls in each phase of a deployment. */
export function rolloutLines({ applied, phases, calls, failures }: Rollout, paint: Paint): readonly string[] {
  const failed = failures.reduce((sum, { count }) => sum + count, 0)
  return [
    ...phases.flatMap(({ name, ms, images }) => [
      `${paint.bold(name)}: ${(ms / 1_000).toFixed(1)} s`,
      ...images.map(
        ({ image, calls: made, failures: lost, slowestMs }) =>
          `  ${image}: ${made} calls, ${lost === 0 ? 'none failed' : paint.bad(`${lost} failed`)}, the slowest ${slowestMs} ms`,
      ),
    ]),
    ...(applied.length === 0
      ? ['no version was missing: nothing was applied']
      : [`applied ${applied.join(', ')}`]),
    ...failures
      .slice(0, MOST_FAILURES)
      .map(({ phase, image, message, count }) =>
        paint.bad(`${count} calls of the ${image} image failed in "${phase}": ${terminalLine(message)}`),
      ),
    failed === 0 ? paint.good(`0 of ${calls} calls failed`) : paint.bad(`${failed} of ${calls} calls failed`),
  ]
}
