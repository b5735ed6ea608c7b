import { counted } from '../../output/counted.js'
import { terminalLine } from '../../output/terminal-line.js'
import { nextLine, type Style } from '../lines/line-style.js'
import type { Phase, Rollout } from '../rollout/rollout.js'

const MAX_FAILURES = 10
const NOT_TRIED =
  'no migration was tried: the database already had every migration of these files, so both images ran on the same schema. To try migrations, restore the copy from before them and run again'

/** @param applies - the actions on the copy; empty if there are none. */
export const rolloutQuestion = (applies: string): string =>
  `This ${applies === '' ? 'lets' : `${applies} to it and lets`} both images write to it, so it must be a copy.`

/** Formats the results of the calls that ended in one phase of a deployment. */
export const phaseLines = ({ name, ms, images }: Phase, { paint }: Style): readonly string[] => [
  `${paint.bold(name)}: ${ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`}`,
  ...images.map(
    ({ image, calls, failures, slowestMs }) =>
      `  ${image}: ${counted(calls, 'call')}, ${failures === 0 ? 'none failed' : paint.bad(`${failures} failed`)}, the slowest ${slowestMs} ms`,
  ),
]

/** Formats the result of a deployment. */
export function rolloutLines({ applied, calls, failures, logs }: Rollout, style: Style): readonly string[] {
  const { paint } = style
  const failed = failures.reduce((sum, { count }) => sum + count, 0)
  return [
    ...(applied.length === 0 ? [] : [`applied ${applied.join(', ')}`]),
    ...failures
      .slice(0, MAX_FAILURES)
      .map(({ phase, image, message, count }) =>
        paint.bad(
          `${counted(count, 'call')} of the ${image} image failed in "${phase}": ${terminalLine(message)}`,
        ),
      ),
    failed === 0 ? paint.good(`0 of ${calls} calls failed`) : paint.bad(`${failed} of ${calls} calls failed`),
    ...(logs === undefined ? [] : [`the images' output is in ${logs}`]),
    ...(applied.length === 0 ? [paint.warn(NOT_TRIED)] : []),
    ...(failed === 0 && applied.length > 0
      ? [nextLine(style, { command: 'migrate up' }, 'on the database itself')]
      : []),
  ]
}
