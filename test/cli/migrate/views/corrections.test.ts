import type { AdoptableTool } from '../../../../lib/migrations/index.js'
import { adoptLines, nothingToAdopt } from '../../../../cli/migrate/views/adopt-view.js'
import { baselineLines, baselineNotes } from '../../../../cli/migrate/views/baseline-view.js'
import { leftOutNote, newFolderNote, newLines } from '../../../../cli/migrate/views/new-view.js'
import { renumberLines, renumberNext, renumberNotes } from '../../../../cli/migrate/views/renumber-view.js'
import { editedLines, repairLines, repairQuestion } from '../../../../cli/migrate/views/repair-view.js'
import { resolveLines, resolveNotes, resolveQuestion } from '../../../../cli/migrate/views/resolve-view.js'
import { FAILED } from './samples.js'
import { expectView, STYLE } from './expect-view.js'

const result = { applied: ['0001_framework_init'], recorded: ['0002_a'] }

describe('what the other commands of ashlar migrate print', () => {
  it('is that of each kind of baseline', () => {
    expectView('baseline', {
      recorded: [...baselineNotes(result, STYLE), ...baselineLines(result, STYLE)],
      'nothing is recorded': [
        ...baselineNotes({ ...result, recorded: [] }, STYLE),
        ...baselineLines({ ...result, recorded: [] }, STYLE),
      ],
    })
  })

  it('is that of each kind of adoption', () => {
    const tool: AdoptableTool = {
      ...{
        tool: 'Knex',
        dialect: 'postgres' as const,
        table: 'knex_migrations',
        tables: [],
        schema: 'public',
      },
      ...{ head: { count: 2, digest: 'd' }, dump: 'pg_dump --schema-only shop' },
    }
    const [created = '', recorded = '', next = ''] = baselineLines(result, STYLE)
    expectView(
      'adopt',
      {
        'the tool is found': adoptLines({ kind: 'found', tool }, STYLE),
        'it is taken over': adoptLines(
          { kind: 'adopted', files: ['migrations/0002_adopted_knex.up.sql'], result },
          STYLE,
        ),
        'it was taken over before': adoptLines({ kind: 'recorded', version: '0002_adopted_knex' }, STYLE),
        'up takes it over by itself': adoptLines(
          { kind: 'byItself', text: 'schema_migrations is at 0002' },
          STYLE,
        ),
        'no tool is known': [nothingToAdopt(STYLE)],
      },
      { 'what is created': created, 'what is recorded': recorded, 'what is next': next },
    )
  })

  it('is that of each kind of resolution', () => {
    const up = { version: 4, as: 'applied', status: FAILED } as const
    const unfinished = (facts: object) =>
      ({
        ...up,
        as: 'rolledBack',
        status: { ...FAILED, unfinished: { ...FAILED.unfinished, ...facts } },
      }) as const
    expectView('resolve', {
      'asked of one that nothing has': [resolveQuestion({ ...up, status: undefined })],
      'asked of one that failed': [resolveQuestion(up)],
      'asked of one of which a statement is done': [
        resolveQuestion({ ...unfinished({ done: 1, of: 3 }), as: 'applied' }),
        resolveQuestion(unfinished({ done: 1, of: 3 })),
      ],
      'asked of one of which statements are done': [
        resolveQuestion({ ...unfinished({ done: 2, of: 3 }), as: 'applied' }),
        resolveQuestion(unfinished({ done: 2, of: 3 })),
      ],
      'asked of a rollback': [
        resolveQuestion(unfinished({ direction: 'down', done: 1, of: 3 })),
        resolveQuestion(unfinished({ direction: 'down', done: 2, of: 3 })),
        resolveQuestion(unfinished({ direction: 'down', staysApplied: true })),
      ],
      'it is applied': [...resolveNotes(up, STYLE), ...resolveLines({ ...up, next: [] }, STYLE)],
      'it is applied, and others follow': resolveLines({ ...up, next: ['0005_b'] }, STYLE),
      'it is rolled back': resolveLines({ ...up, as: 'rolledBack', next: ['0004_size'] }, STYLE),
    })
  })

  it('is that of each kind of repair', () => {
    const edited = { name: '0002_a', applied: 'one\ntwo\nthree', now: 'one\n2\nthree' }
    expectView('repair', {
      'the edit': [...editedLines(edited, STYLE), repairQuestion([edited])],
      recorded: repairLines([edited], ['0003_b'], STYLE),
      'nothing was edited': repairLines([], [], STYLE),
    })
  })

  it('is that of each kind of renumbering', () => {
    const moved = { folder: 'migrations/postgres', from: '0005_a', to: '0007_a', overtaken: [] }
    const several = [
      { ...moved, overtaken: ['0006_b'] },
      { ...moved, from: '0004_c', to: '0008_c', overtaken: ['0006_b'] },
    ]
    expectView('renumber', {
      one: [
        ...renumberLines([moved], STYLE),
        ...renumberNotes([moved], STYLE),
        ...renumberNext([moved], STYLE),
      ],
      'several that overtake one': renumberNotes(several, STYLE),
      'nothing is to do': [
        ...renumberLines([], STYLE),
        ...renumberNotes([], STYLE),
        ...renumberNext([], STYLE),
      ],
    })
  })

  it('is that of each kind of new version', () => {
    const written = { names: ['0002_a'], files: ['migrations/postgres/0002_a.up.sql'] }
    expectView('new', {
      'empty files': newLines(written, true, STYLE),
      'files of entities': newLines(written, false, STYLE),
      'nothing is written': newLines({ names: [], files: [] }, false, STYLE),
      notes: [leftOutNote('mysql'), newFolderNote('other')],
    })
  })
})
