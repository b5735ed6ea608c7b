import { REFUSED } from '../../resource/typeorm/declarations.js'
import { OR_INTERNAL } from '../../resource/typeorm/options.js'
import { ROWS } from './rows.js'

/** A line of the page: one declaration and what becomes of it. */
export interface Line {
  readonly decorator: string
  /** The options of the decorator that the declaration has; none if it is about the decorator itself. */
  readonly options: readonly string[]
  readonly code: string
  readonly answer: string
  readonly does: string
}

const accepted = ROWS.map(({ decorator, options = [], code, outcome, does, tables, engines }): Line => ({
  decorator,
  options,
  code,
  answer: `${outcome}${tables === undefined ? '' : `, in ${tables === 'new' ? 'a new' : 'an existing'} table`}${engines?.length === 0 ? '\\*' : ''}`,
  does,
}))

/** The problem without its subject and without the advice that every property has. */
const adviceOf = (problem: string): string => {
  const [first = '', ...rest] = problem.split(/ (?:is|are) not supported: /)
  const advice = (rest.join(' is not supported: ') || first.replace(/^\w+: /, '')).replace(OR_INTERNAL, '')
  return `${advice.charAt(0).toUpperCase()}${advice.slice(1)}.`
}

const rejected = REFUSED.flatMap(({ decorator, option, code, problems: [problem = ''] }): Line[] =>
  code === undefined
    ? []
    : [
        {
          decorator,
          options: option === undefined ? [] : [option],
          code,
          answer: problem.endsWith(OR_INTERNAL) ? 'rejected with a field' : 'rejected',
          does: adviceOf(problem),
        },
      ],
)

export const LINES: readonly Line[] = [...accepted, ...rejected]

const GROUPS: Readonly<Record<string, readonly string[]>> = {
  Columns: ['Column', 'Generated', 'VirtualColumn', 'ViewColumn', 'ObjectIdColumn'],
  'Keys, times and versions': [
    ...['PrimaryColumn', 'PrimaryGeneratedColumn', 'CreateDateColumn', 'UpdateDateColumn'],
    ...['DeleteDateColumn', 'VersionColumn'],
  ],
  Relations: [
    ...['ManyToOne', 'OneToMany', 'OneToOne', 'ManyToMany', 'JoinColumn', 'JoinTable', 'RelationId'],
    'ForeignKey',
  ],
  'Classes, indexes and constraints': ['Entity', 'Index', 'Unique', 'Check', 'Exclusion'],
  'Inheritance, trees and views': [
    ...['TableInheritance', 'ChildEntity', 'Tree', 'TreeParent', 'TreeChildren', 'TreeLevelColumn'],
    'ViewEntity',
  ],
  Listeners: [
    ...['BeforeInsert', 'AfterInsert', 'BeforeUpdate', 'AfterUpdate', 'AfterLoad'],
    ...['BeforeSoftRemove', 'AfterSoftRemove', 'BeforeRecover', 'AfterRecover'],
    ...['BeforeRemove', 'AfterRemove', 'EventSubscriber'],
  ],
}

/** Decorators that the page shows. */
export const SHOWN: readonly string[] = Object.values(GROUPS).flat()

const INTRO = `# What TypeORM declares, and what Ashlar does with it

This page is generated from a table of tests by \`node dist/test/conformance/typeorm/write-page.js\`; \`npm run check\` rejects an
outdated page. The table covers every decorator and every option of TypeORM 1.1. Each accepted line is tested on SQLite, PostgreSQL
and MariaDB, if TypeORM supports it there: the tests create, read, list, update, delete and undelete rows, read the events, and let
TypeORM's manager read and write the same rows. Lines with a star are checked at startup only.

- **carried out**: a repository does what TypeORM does.
- **without effect**: the declaration does not affect a repository. TypeORM's own manager still carries it out.
- **left to TypeORM**: not managed by Ashlar. No field of the message names the property, and Ashlar never reads or writes it. A full
  update keeps its value.
- **rejected with a field**: the server does not start if a field of the message names the property. Without a field, or with
  [\`@Internal()\`](typeorm-options.md#what-is-left-to-typeorm), the property is not managed by Ashlar.
- **rejected**: the server does not start, and the error states what to write instead.

An *existing table* is the table of a class with \`@Resource({ existing: true })\`: see [Tables that exist](../guides/existing-tables.md).
The other column decorators have the options of \`@Column()\`, and the other relation decorators have the
options of \`@ManyToOne()\`.`

const cell = (text: string): string => text.replaceAll('|', '\\|')

const table = (lines: readonly Line[]): string =>
  [
    '| declaration | answer | what Ashlar does |',
    '| --- | --- | --- |',
    ...lines.map(({ code, answer, does }) => `| \`${cell(code)}\` | ${answer} | ${cell(does)} |`),
  ].join('\n')

/** The page as Markdown, before it is formatted. */
export const page = (): string =>
  [
    INTRO,
    ...Object.entries(GROUPS).map(([group, decorators]) => {
      const lines = decorators.flatMap((name) => LINES.filter(({ decorator }) => decorator === name))
      return `## ${group}\n\n${table(lines)}`
    }),
    '',
  ].join('\n\n')
