import type { Paint } from '../../output/paint.js'
import { shellWord } from '../../../lib/text/shell-word.js'
import { nextLine } from './next-line.js'

interface ComparedFlags {
  readonly contract: boolean
  readonly entities: string
  readonly live: boolean
}

interface Written {
  readonly files: readonly string[]
  readonly fill: readonly string[]
  readonly left: readonly string[]
  readonly byHand: readonly string[]
}

interface Drift {
  readonly fill: readonly string[]
  readonly drift: readonly string[]
  readonly bringsBack: readonly string[]
  readonly byHand: readonly string[]
}

const ONCE_ALONE = 'once no process with the older code runs'

/** What was written, what is left, and what comes next. */
export function diffLines(
  { files, fill, left, byHand }: Written,
  { contract, entities, live }: ComparedFlags,
  paint: Paint,
): readonly string[] {
  const isLeft = !contract && left.length > 0
  const toContract = [
    ...['diff', 'NAME', '--entities', shellWord(entities)],
    ...(live ? ['--live'] : []),
    '--contract',
  ]
  const missing = live ? NOTHING_MISSING_LIVE : NOTHING_MISSING
  const nothingLeft = live ? NOTHING_LEFT_LIVE : NOTHING_LEFT
  return [
    ...files.map((file) => `${paint.good('written')} ${file}`),
    ...(files.length > 0
      ? []
      : [byHand.length > 0 ? NOTHING_BUT : contract ? nothingLeft : isLeft ? onlyLeft(live) : missing]),
    ...(contract && files.length > 0 ? [paint.warn(OF_ITS_OWN)] : []),
    ...(fill.length === 0 ? [] : [paint.warn(FILL_FIRST), ...fill]),
    ...(isLeft ? [paint.warn('left for the contract:'), ...left] : []),
    ...(byHand.length === 0 ? [] : [paint.warn('to do by hand:'), ...byHand]),
    ...(files.length > 0 ? [nextLine(['plan'], contract ? ONCE_ALONE : '')] : []),
    ...(files.length === 0 && isLeft ? [nextLine(toContract, ONCE_ALONE)] : []),
  ]
}

/** In what a live database is not what its files make, and how to bring it back. */
export const driftLines = (
  { drift, bringsBack, fill, byHand }: Drift,
  { entities }: Pick<ComparedFlags, 'entities'>,
  paint: Paint,
): readonly string[] => [
  paint.bad(DRIFTS),
  ...drift,
  ...(fill.length === 0 ? [] : [paint.warn(FILL_FIRST), ...fill]),
  ...(bringsBack.length === 0 ? [] : [paint.warn(BRINGS_BACK), ...bringsBack]),
  ...(byHand.length === 0 ? [] : [paint.warn('to do by hand:'), ...byHand]),
  OR_RECORD,
  nextLine(
    ['diff', 'NAME', '--entities', shellWord(entities), '--live'],
    'again, until it finds no such thing',
  ),
]

const FILL_FIRST = 'fill these columns first, because NOT NULL fails where a row has no value:'
const DRIFTS =
  'nothing is written: this database is not what the files make, and a version for that would fail in every other one:'
const BRINGS_BACK = 'read these statements, and run them by hand in this database alone, to bring it back:'
const OR_RECORD =
  'Where this database is right as it is, write what differs into a file instead, and record it here with ashlar migrate resolve --applied.'
const NOT_LIVE =
  '(the live database is not compared: ashlar migrate verify --entities does, and ashlar migrate diff NAME --live says how to make it as the files are)'
const NOTHING_MISSING = `nothing is written: the files make what the entities need ${NOT_LIVE}`
const NOTHING_MISSING_LIVE = 'nothing is written: the database has what the entities need'
const onlyLeft = (live: boolean): string =>
  `nothing is written: all that the ${live ? 'database lacks' : 'files lack'} is left for the contract`
const NOTHING_LEFT = `nothing is written: the files leave nothing for the contract ${NOT_LIVE}`
const NOTHING_LEFT_LIVE = 'nothing is written: nothing is left for the contract'
const NOTHING_BUT = 'nothing is written: no file is generated for what differs'
const OF_ITS_OWN =
  'the contract is a deployment of its own: apply it when what expands is applied and no process with the older code runs any more; a backfill that is still pending runs before it, in the same up'
