import { onDownText, problemText, type MigrationProblem } from '../../../../lib/migrations/index.js'
import { type Advice, adviceText } from '../../../../lib/migrations/messages/advices.js'
import type { OnDown } from '../../../../lib/migrations/messages/unfinished.js'
import { type Recovery, recoveryText } from '../../../../lib/migrations/messages/recoveries.js'
import { progressLines } from '../../../../cli/migrate/lines/progress-lines.js'
import {
  checkHeading,
  copyText,
  databaseText,
  diffHeading,
  emptyCopyHeading,
  type Heading,
} from '../../../../cli/migrate/headings.js'
import { expectView, linesOf, type Samples, STYLE } from './expect-view.js'

const version = '0004_size'
const file = '0004_size.up.sql'
const said = { message: 'ERROR', sqlState: '42703' }
const cause = { kind: 'invalidIndexThere', version, index: 'i' }
const apart = 'a schema of its own'
const edited = { version, file, isRenamed: false, applied: 'abc', now: 'def' }
const statement: Samples<MigrationProblem>['statementFailed'][number] = {
  ...{ ...said, version, file, isFramework: false, direction: 'up' as const, isUnknown: false },
  ...{ place: { statement: 2, of: 3, line: 4 }, advice: undefined, isBlocked: false, isThere: false },
  remains: { kind: 'nothing' },
  mend: 'file',
}

const PROBLEMS: Samples<MigrationProblem> = {
  noConnection: [
    { server: 'PostgreSQL', reason: 'no route', sqlState: '' },
    {
      server: 'MySQL',
      address: { server: 'db:3306', name: 'shop' },
      reason: 'no',
      advice: { kind: 'notReached', server: 'MySQL' },
      sqlState: '',
    },
  ],
  serverRefused: [
    { ...said, advice: undefined, isUndone: false, mayBeFile: true },
    {
      ...said,
      advice: {
        kind: 'lacksRight',
        server: 'MySQL',
        purpose: 'read',
        schema: '',
        table: 'ashlar_migrations',
      },
      isUndone: true,
      mayBeFile: false,
    },
  ],
  cancelledConnecting: [{}],
  cancelledWaiting: [{ holder: '' }, { holder: 'pid 7' }],
  cancelledBefore: [{ version }],
  cancelledBetweenChunks: [
    { version, file, written: 0 },
    { version, file, written: 1 },
  ],
  lockedTooLong: [{ holder: 'pid 7', waitedMs: 5 }],
  lockLost: [{}],
  rowNotWritten: [{ ...said, version }],
  pooler: [{}],
  proxy: [{}],
  unknownVersion: [{ number: 7, known: [1, 2, 3, 8001] }],
  notApplied: [
    { number: 7, applied: [] },
    { number: 7, applied: [1, 2] },
  ],
  edited: [
    { files: [edited], apart },
    { files: [edited, edited, edited, { ...edited, isRenamed: true }], apart },
  ],
  otherName: [{ version, name: '0004_books' }],
  notOfTheseFiles: [{ version }],
  noDownMigration: [{ version }],
  rollBackStopped: [
    { cause, rolledBack: [], left: ['0003_b', '0002_a'], to: 1 },
    { cause, rolledBack: ['0003_b'], left: ['0002_a'], to: 0 },
  ],
  baselineOfVersions: [
    {
      versions: (['failed', 'halfRolledBack', 'recorded', 'applied'] as const).map((standing) => ({
        version,
        standing,
      })),
    },
  ],
  noVersionRecorded: [{ version, place: 'in the schema shop' }],
  nothingToResolve: [{ version }],
  appliedAlready: [{ version }],
  halfDone: [
    { version, number: 4, done: 0, of: 2 },
    { version, number: 4, done: 2, of: 3 },
  ],
  beginningEdited: [{ version, number: 4, direction: 'up', done: 2, edited: 1, table: 'ashlar_migrations' }],
  otherDirty: [{ table: 'schema_migrations', number: 4 }],
  otherUnknown: [{ table: 'schema_migrations', number: 4 }],
  notTakenOver: [{ ...said, table: 'schema_migrations' }],
  otherTool: [
    { tool: 'Knex', table: 'knex_migrations', adopted: undefined, apart },
    { tool: 'Knex', table: 'knex_migrations', adopted: 2, apart },
  ],
  otherToolMoved: [
    { tool: 'Knex', table: 'knex_migrations', count: 1, adopted: 2, comment: '-- ashlar:adopted' },
  ],
  namesakes: [{ tables: [{ table: 'operations', lacks: ['done', 'error'] }], apart }],
  statementFailed: [
    statement,
    { ...statement, isThere: true, advice: { kind: 'readBySearch' } },
    { ...statement, remains: { kind: 'statements', done: 1 } },
    { ...statement, remains: { kind: 'statements', done: 2 }, direction: 'down' },
    { ...statement, remains: { kind: 'mayBeDone', statement: 2 } },
    { ...statement, remains: { kind: 'index' } },
    { ...statement, remains: { kind: 'chunks' } },
    { ...statement, remains: { kind: 'chunk', behind: [], most: 100, written: 0 } },
    {
      ...statement,
      remains: { kind: 'chunk', behind: [{ column: 'id', value: '7' }], most: 100, written: 7 },
    },
    { ...statement, isFramework: true, mend: 'cause' },
    { ...statement, mend: 'rows', rows: { find: 'SELECT 1' } },
    { ...statement, mend: 'rows', rows: { mayBeFile: true } },
    { ...statement, mend: 'nothing', isBlocked: true },
    { ...statement, mend: 'nothing', place: undefined, isUnknown: true, sqlState: '' },
    { ...statement, mend: undefined },
    { ...statement, remains: undefined },
  ],
  chunkFailed: [{ cause, remains: { kind: 'chunks' } }],
  backfillWithoutKey: [{ version, file, table: 'tasks' }],
  backfillMovesKey: [{ version, file, column: 'id' }],
  backfillRow: [{ version, file, row: 'id 7', why: 'no' }],
  invalidIndexThere: [{ version, index: 'i' }],
  foundElsewhere: [{ version, name: 'uuid', schema: 'shop', found: 'public' }],
  searchVersionFailed: [{ cause }],
  notReplayed: [
    { cause, isOfFile: true },
    { cause, isOfFile: false },
  ],
  scratchNotReached: [{ cause }],
  noRightForScratch: [{ right: 'grant it', sqlState: '42501' }],
  badlyNamed: [{ file }],
  badNumber: [
    { file, hasFourDigits: true },
    { file, hasFourDigits: false },
  ],
  hasNul: [{ file }],
  notUtf8: [{ file }],
  unreadable: [{ file, code: 'EACCES' }],
  twoUpMigrations: [{ file, other: '0004_size.up.ts' }],
  noUpMigration: [{ version }],
  reserved: [{ version }, { version, framework: '0001_framework_init' }],
  duplicateNumber: [
    { versions: ['0004_a', '0004_b'], behind: [] },
    { versions: ['0004_a', '0004_b'], behind: ['0005_c'] },
    { versions: ['0004_a', '0004_b'], behind: [], applied: ['0004_a'] },
  ],
  gap: [
    { missing: 4, before: 5, isByHand: true },
    { missing: 9004, before: 9005, isByHand: false },
  ],
  noFolder: [{ folder: '/srv/migrations', code: 'ENOENT' }],
  otherEngines: [{ folder: '/srv', engines: ['mysql'], dialect: 'postgres', own: '/srv/postgres' }],
  noFileFor: [{ prefix: 'mysql/' }],
  emptyFolder: [
    { applied: ['0002_a'], more: 0 },
    { applied: ['0002_a'], more: 2 },
  ],
  refused: [{ file, line: 3, rule: 'transaction-control', why: 'no' }],
  noBackfill: [
    { file, hasDefault: true },
    { file, hasDefault: false },
  ],
  noTypeScript: [{ file, node: 'v20' }],
  notLoaded: [
    { file, why: 'no', isImport: true },
    { file, why: 'no', isImport: false },
  ],
  badTimeout: [{ option: 'lockTimeoutMs', most: 9 }],
  badSchema: [{}],
  schemaOfServer: [{ schema: 'pg_x' }],
  noSchemas: [{}],
  noDatabaseNamed: [{ example: 'postgres://host/database' }],
  badUrlParameter: [{ why: 'no sslmode' }],
  badScheme: [{}],
  fileOfDsn: [{}],
  noVersionedSql: [{}],
  missingPackage: [{ engine: 'MySQL', package: 'mysql2' }],
  scratchOfOtherEngine: [{}],
  scratchNotEmpty: [{}],
}

const end = 'failed'
const HOW: Samples<Recovery> = {
  leftNothing: [{}],
  clearsMark: [{}],
  finishesRollBack: [{}],
  earlierVector: [{}],
  withoutVector: [{}],
  statementDone: [{ statement: 2 }],
  dropsIndex: [
    { index: 'i', leftBy: 'build' },
    { index: 'i', leftBy: 'drop' },
    { index: 'i', leftBy: 'reindex' },
  ],
  detaches: [{ partition: 'p' }],
  resumesChunks: [{ end: 'cancelled' }, { end: 'unreported' }],
  goesOnBehind: [{ rows: 7, table: 'tasks' }],
  beginsAgain: [{ end }],
  looksAgain: [{ end }],
  goesOnWith: [
    { end, done: 0, of: 2, mayBeDone: false, isLast: false },
    { end, done: 0, of: 2, mayBeDone: true, isLast: true },
    { end, done: 1, of: 2, mayBeDone: true, isLast: false },
    { end, done: 2, of: 3, mayBeDone: false, isLast: false },
    { end, done: 2, of: 2, mayBeDone: false, isLast: false },
  ],
}
const DOWN: Samples<OnDown> = {
  clears: [{}],
  mayBeDone: [{}],
  dropsIndex: [{}],
  forgetsChunks: [{}],
  refuses: [{ problem: cause }],
}

const SERVERS = [{ server: 'PostgreSQL' }, { server: 'MySQL' }] as const
const ADVICES: Samples<Advice> = {
  lacksRight: SERVERS.flatMap((one) => [
    { ...one, purpose: 'read', schema: 'shop', table: 'ashlar_migrations' },
    { ...one, purpose: 'change', schema: 'shop', table: 'ashlar_migrations' },
  ]),
  readOnly: SERVERS,
  connectionLost: [{}],
  notSent: [{}],
  cancelled: [{}],
  lockTimeout: [{ ms: 2000 }, { ms: 2000, blockers: 'pid 7' }],
  statementTimeout: [{ ms: 60_000 }],
  concurrentTimeout: [{ ms: 900_000 }],
  otherSchema: [{ schema: 'shop' }],
  readBySearch: [{}],
  dependedOn: [{}],
  unsafeTriggers: [{}],
  login: [{}],
  mayNotConnect: [{}],
  noSuchDatabase: [{}],
  noFreeConnection: [{}],
  starting: [{}],
  noTls: SERVERS,
  notReached: SERVERS,
  unknownHost: [{}],
}

describe('why ashlar migrate fails, and what it does about what was left', () => {
  it('is said of each kind of problem', () => {
    expectView(
      'problems',
      linesOf(PROBLEMS, (problem) => problemText(problem, STYLE.command)),
    )
  })

  it('says what to do about each kind of error of a server', () => {
    expectView(
      'advices',
      linesOf(ADVICES, (advice) => adviceText(advice, STYLE.command)),
    )
  })

  it('is said of each kind of recovery', () => {
    expectView('recoveries', {
      ...linesOf(HOW, recoveryText),
      ...linesOf(DOWN, (onDown) => onDownText(onDown, STYLE.command)),
    })
  })

  it('is said in the first line where the command works', async () => {
    const at = { name: 'shop', server: 'db:5432' }
    const [postgres, mysql] = [
      { ...at, dialect: 'postgres', schema: 'public' },
      { ...at, dialect: 'mysql' },
    ] as const
    const compared = { files: 'older', entities: 'dist/entities.js', live: false }
    const scratch = 'postgres://db/scratch'
    const of = async (heading: Promise<Heading>) => [(await heading)(postgres)]
    expectView('headings', {
      'the database': [databaseText(postgres), databaseText(mysql)],
      'a copy': [copyText(postgres)],
      check: [...(await of(checkHeading(compared))), ...(await of(checkHeading({ ...compared, scratch })))],
      lint: await of(emptyCopyHeading(compared)),
      diff: [
        ...(await of(diffHeading(compared))),
        ...(await of(diffHeading({ ...compared, live: true, scratch }))),
      ],
    })
  })

  it('is said of each kind of progress', () => {
    const lines = progressLines(STYLE.paint)
    const of = { version, direction: 'up' } as const
    const needless = { replacedBy: '9003_a' }
    const filled = { rows: 10, earlier: 0, walked: 55_000, rate: 11_048, chunk: 100, pauseMs: 0, ms: 5_000 }
    expectView('progress', {
      waiting: lines({ kind: 'waiting', holder: 'pid 7', session: 7, waitedMs: 0 }),
      'waiting for the same session': lines({
        kind: 'waiting',
        holder: 'pid 7, later',
        session: 7,
        waitedMs: 9,
      }),
      adopted: lines({
        kind: 'adopted',
        from: 'schema_migrations',
        versions: ['0002_a'],
        created: ['operations'],
      }),
      recorded: [
        ...lines({ kind: 'recorded', version, because: 'sourceGone', needless }),
        ...lines({
          kind: 'recorded',
          version,
          because: 'vectorNotMade',
          needless: { tableDroppedBy: '0003_b' },
        }),
      ],
      recovering: lines({ kind: 'recovering', version, how: { kind: 'clearsMark' } }),
      file: [0, 1, 2].flatMap((statements) => lines({ kind: 'file', ...of, statements })),
      statement: lines({
        kind: 'statement',
        step: 'started',
        version,
        number: 1,
        of: 2,
        summary: 'SELECT 1',
      }),
      running: [
        ...lines({ kind: 'running', version, number: 1, ms: 6_000, phase: 'building', waitsFor: undefined }),
        ...lines({ kind: 'running', version, number: 1, ms: 7_000, phase: undefined, waitsFor: 'process 7' }),
      ],
      filled: [
        ...lines({ kind: 'filled', version, of: 200_000, ...filled }),
        ...lines({ kind: 'filled', version, of: 50_000, ...filled, ms: 10_000, pauseMs: 250 }),
      ],
      notice: lines({ kind: 'notice', severity: 'WARNING', text: 'careful' }),
      done: lines({ kind: 'done', ...of, ms: 12 }),
    })
  })
})
