import { expect } from 'chai'
import type { ComparedDialect } from '../../../lib/persistence/comparison/expected-table.js'
import { shownDifference } from '../../../lib/persistence/comparison/shown-difference.js'
import type { Difference } from '../../../lib/persistence/comparison/table-differences.js'
import { vectorDifferences } from '../../../lib/persistence/comparison/vector-differences.js'
import type { LiveColumn, LiveIndex } from '../../../lib/persistence/dialects/catalog/live-table.js'
import type {
  ColumnDefinition,
  TableDefinition,
} from '../../../lib/persistence/dialects/catalog/table-definition.js'
import { postgres } from '../../../lib/persistence/dialects/postgres.js'
import type { TableDifference } from '../../../lib/text/table-difference.js'
import { linesOf, type Samples } from '../../cli/migrate/views/expect-view.js'
import { expectGolden } from '../../support/golden.js'

const column = (rest: Partial<ColumnDefinition> = {}): ColumnDefinition => ({
  ...{ name: 'title', type: 'varchar(80)', catalogType: 'character varying(80)' },
  ...{ isText: true, nullable: false, fallback: undefined, ...rest },
})
const live = (rest: Partial<LiveColumn> = {}): LiveColumn => ({
  ...{ name: 'title', type: 'character varying(80)', collation: 'C', nullable: false },
  ...{ fallback: undefined, generated: undefined, ...rest },
})
const WANTED = {
  name: 'tasks_code_key',
  columns: ['account_id', 'code'],
  unique: true,
  where: 'gone IS NULL',
}
const index = (rest: Partial<LiveIndex> = {}): LiveIndex => ({
  ...{ name: 'tasks_code_key', columns: ['code'], unique: true, isConstraint: false, ...rest },
})
const target = { schema: undefined, name: 'projects' }
const key = {
  ...{ name: 'tasks_project_fkey', columns: ['account_id', 'project_id'], target },
  targetColumns: ['account_id', 'id'],
}
const liveKey = { ...key, target: 'projects', onDelete: 'CASCADE' }
const tasks: TableDefinition = {
  ...{ schema: undefined, name: 'tasks', tenant: 'account_id', columns: [column()] },
  ...{ primaryKey: ['account_id', 'id'], indexes: [WANTED], foreignKeys: [key] },
}
const [is, wanted] = [['id'], ['account_id', 'id']]

const EACH: Samples<Difference> = {
  noTable: [{}],
  fault: [{ text: 'is at fault' }],
  addColumn: [{ column: column() }],
  generated: [{ column: column(), live: live() }],
  unminted: [{ column: column({ name: 'id', isIdentity: true }), live: live({ name: 'id' }) }],
  type: [
    { column: column(), live: live({ type: 'text' }) },
    { column: column(), live: live({ type: 'character varying(79)' }) },
    { column: column(), live: live({ type: 'text', collation: 'default' }) },
    { column: column(), live: live({ type: 'character varying(79)', collation: 'default' }) },
    { column: column(), live: live({ type: 'integer', collation: undefined }) },
    { column: column({ isText: false, catalogType: 'bigint' }), live: live({ type: 'integer' }) },
  ],
  collation: [
    { column: column(), live: live({ collation: 'default' }) },
    { column: column(), live: live({ collation: undefined }) },
  ],
  nullable: [
    { column: column({ nullable: true }), live: live() },
    { column: column(), live: live({ nullable: true }) },
    { column: column({ initial: "''" }), live: live({ nullable: true }) },
  ],
  default: [
    { column: column({ fallback: "'x'" }), live: live(), wanted: "'x'" },
    { column: column({ fallback: "'x'" }), live: live({ fallback: "'y'" }), wanted: "'x'" },
  ],
  spareDefault: [{ column: column(), live: live({ fallback: "''" }) }],
  extraColumn: [
    { live: live({ name: 'label' }), to: undefined },
    { live: live({ name: 'label' }), to: column({ renamedFrom: 'label' }) },
    { live: live({ name: 'search_vector', generated: 'x' }), to: undefined },
  ],
  primaryKey: [
    { is, wanted },
    { is: [], wanted },
  ],
  addIndex: [
    { index: WANTED, there: undefined },
    { index: WANTED, there: index() },
  ],
  extraIndex: [
    { index: index(), isReplaced: true },
    { index: index({ columns: ['account_id', 'code'] }), isReplaced: false },
    { index: index({ name: 'serials', columns: ['serial'] }), isReplaced: false },
    { index: index({ name: 'serials', columns: ['serial', 'account_id'] }), isReplaced: false },
    { index: index({ name: 'tasks_size_idx', columns: ['size'], unique: false }), isReplaced: false },
  ],
  addForeignKey: [
    { key, others: [] },
    { key, others: [liveKey] },
  ],
  extraForeignKey: [
    { key: liveKey, wanted: key, isThere: false },
    { key: liveKey, wanted: key, isThere: true },
    { key: liveKey, wanted: undefined, isThere: false },
  ],
  uncheckedForeignKey: [{ key: { ...liveKey, isUnchecked: true } }],
  uncheckedCheck: [
    { check: { name: 'size_check', isValid: false, columns: ['size'], definition: 'CHECK (size > 0)' } },
  ],
}

/** Its sentences, and what else it has. */
const shown = (difference: TableDifference | undefined): string => {
  if (difference === undefined) return 'another one says it'
  const { kind: _, table: _t, text, detail, ...values } = difference
  return [text, ...(detail === undefined ? [] : [detail.trimEnd()]), JSON.stringify(values)].join('\n  ')
}

describe('a difference of a table', () => {
  it('has a sentence, and values, of each kind', () => {
    const dialect = postgres as ComparedDialect
    const lines = linesOf(EACH, (difference) => shown(shownDifference(difference, tasks, dialect)))
    const rest = { columns: [live()], primaryKey: [], foreignKeys: [], checks: [], triggers: [], faults: [] }
    const vector = live({ name: 'search_vector', type: 'tsvector', generated: 'x' })
    const ofVector = (columns: readonly LiveColumn[], indexes: readonly LiveIndex[] = []) =>
      vectorDifferences(tasks, { ...rest, columns, indexes }, 'x').map(shown)
    const gin = index({ unique: false, method: 'gin', columns: ['search_vector'] })
    const all = {
      ...lines,
      noVector: ofVector([]),
      noVectorIndex: ofVector([vector]),
      otherVector: ofVector([{ ...vector, generated: undefined }], [gin]),
      outdatedVector: ofVector([{ ...vector, generated: 'y' }], [gin]),
    }
    expectGolden(
      'cli/views/table-differences.txt',
      `${Object.entries(all)
        .map(([kind, texts]) => [`# ${kind}`, ...texts].join('\n'))
        .join('\n\n')}\n`,
    )
    expect(ofVector([vector], [gin])).to.deep.equal([])
  })
})
