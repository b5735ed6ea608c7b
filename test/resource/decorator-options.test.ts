import { expect } from 'chai'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import * as decorators from '../../decorators/index.js'
import type { EntityClass } from '../../lib/resource/resource-model.js'
import { problemsOf } from './typeorm/declarations.js'

type Options = Readonly<Record<string, unknown>>
type Factory = (options?: unknown) => (target: object, property?: string) => void

const {
  Computed: _,
  Default: __,
  EnumLabels: ______,
  RenamedFrom: ___,
  ProtoField: ____,
  withoutTenants: _____,
  ...withOptions
} = decorators
const all = withOptions as unknown as Readonly<Record<string, Factory>>
const OF_CLASSES = ['Emits', 'Expirable', 'Resource', 'Searchable', 'SoftDeletable', 'TenantScoped']

/** A resource with one decorator, as plain JavaScript can write it. */
function widgetWith(name: string, options: unknown, isOnProperty = !OF_CLASSES.includes(name)) {
  class Widget {}
  PrimaryColumn({ type: String })(Widget.prototype, 'id')
  Column({ type: String })(Widget.prototype, 'title')
  const decorate = all[name]?.(options)
  if (isOnProperty) decorate?.(Widget.prototype, name === 'Searchable' ? 'title' : 'glow')
  else if (name !== 'Resource') decorate?.(Widget)
  if (name === 'OutputOnly') Column({ type: String })(Widget.prototype, 'glow')
  Entity('widgets')(Widget)
  if (name === 'Resource') decorate?.(Widget)
  else decorators.Resource({ shared: name !== 'TenantScoped' })(Widget)
  return Widget as EntityClass<object>
}

const SOURCES =
  'a list of sources: each is the name of a property, { sql: { postgres: "…" } } with or without cel, or { cel: "…" }'

describe('options of decorators', () => {
  for (const name of Object.keys(all))
    it(`of @${name}() that there are none of are refused by name`, () => {
      const [problem, ...others] = problemsOf(widgetWith(name, { shiny: true }))
      expect(others).to.deep.equal([])
      expect(problem).to.match(
        new RegExp(`@${name}(: there is no option shiny; valid: | takes no options: write @${name}\\(\\)$)`),
      )
      expect(
        problemsOf(widgetWith(name, undefined)).filter((one) => one.includes(`@${name} `)),
      ).to.deep.equal([])
    })

  it('do not hide the other problems of their class', () => {
    class Widget {}
    PrimaryColumn({ type: String })(Widget.prototype, 'id')
    Column({ type: 'interval' })(Widget.prototype, 'due')
    Column({ type: String })(Widget.prototype, 'glow')
    all['OutputOnly']?.({ shiny: true })(Widget.prototype, 'glow')
    Entity('widgets')(Widget)
    all['Resource']?.({ shared: true, colour: 'red' })(Widget)
    const found = problemsOf(Widget as EntityClass<object>)
    expect(found.map((one) => /shiny|colour|interval/.exec(one)?.[0])).to.deep.equal([
      ...['shiny', 'colour', 'interval'],
    ])
  })

  it('are an object', () => {
    for (const name of ['Resource', 'OutputOnly', 'Expirable'])
      for (const options of ['title', 7, true])
        expect(problemsOf(widgetWith(name, options))[0]).to.include(
          `@${name} takes an object of options, not ${JSON.stringify(options)}; valid: `,
        )
  })

  const refused: readonly (readonly [name: string, options: Options, problem: string])[] = [
    ['Searchable', { strategy: 'INDEX' }, '@Searchable: strategy is "INDEX"; did you mean INDEXED?'],
    ['Searchable', { strategy: 7 }, '@Searchable: strategy is 7; valid: JIT, INDEXED'],
    [
      'Searchable',
      { sql: { postgres: 'title' } },
      '@Searchable: there is no option sql: it belongs to a source: write sources: [{ sql: … }]',
    ],
    ['Searchable', { sauces: ['title'] }, '@Searchable: there is no option sauces; did you mean sources?'],
    ['Searchable', { sources: 'title' }, `@Searchable: sources is "title", but must be ${SOURCES}`],
    ['Searchable', { textConfig: 7, sources: ['title'] }, '@Searchable: textConfig is 7, but must be a text'],
    ...[{ sql: { mysql: 'title' } }, { postgres: 'title' }, {}, 7, null, { sql: 'title' }, { cel: 7 }].map(
      (source) =>
        [
          'Searchable',
          { sources: [source] },
          `@Searchable: sources is a list, but must be ${SOURCES}`,
        ] as const,
    ),
    ['Resource', { shared: true, shape: 'Ent' }, '@Resource: shape is "Ent"; did you mean ent?'],
    ['Resource', { shared: 'no' }, '@Resource: shared is "no"; valid: true, false'],
    ['Resource', { shared: true, shape: null }, '@Resource: shape is null; valid: gorm, ent'],
    [
      'Resource',
      { shared: true, message: 'Widget' },
      '@Resource: message is "Widget", but must be the schema of a message, such as TaskSchema of what @bufbuild/protoc-gen-es 2 generates',
    ],
    [
      'Resource',
      { shared: true, type: '' },
      '@Resource: type is "", but must be a name, such as "task" or "archived_task"',
    ],
    [
      'OutputOnly',
      { filtrable: true },
      'glow: @OutputOnly: there is no option filtrable; did you mean filterable?',
    ],
    [
      'OutputOnly',
      { role: 'plain' },
      'glow: @OutputOnly: there is no option role; valid: filterable, generated',
    ],
    ['UpdateTime', { filterable: 1 }, 'glow: @UpdateTime: filterable is 1; valid: true, false'],
  ]
  for (const [name, options, problem] of refused)
    it(`@${name}(${JSON.stringify(options)}) is refused`, () => {
      expect(problemsOf(widgetWith(name, options))).to.deep.equal([problem])
    })

  it('of @Searchable() belong to the class', () => {
    expect(problemsOf(widgetWith('Searchable', { strategy: 'JIT' }, true))).to.deep.equal([
      'title: @Searchable marks a property and takes no options: write them on the class',
    ])
    expect(problemsOf(widgetWith('Searchable', {}, true))).to.deep.equal([])
  })

  it('of @Emits() that are not a list are refused where it is written', () => {
    expect(() => decorators.Emits({ on: 'created' as never })).to.throw(
      RangeError,
      '@Emits: on is "created": list one or more of created, ',
    )
  })

  it('that are undefined are left out', () => {
    expect(problemsOf(widgetWith('OutputOnly', { filterable: undefined, shiny: undefined }))).to.deep.equal(
      [],
    )
  })

  it('of an ancestor are checked as well', () => {
    class Base {}
    all['OutputOnly']?.({ shiny: true })(Base.prototype, 'glow')
    class Widget extends Base {}
    PrimaryColumn({ type: String })(Widget.prototype, 'id')
    Column({ type: String })(Widget.prototype, 'glow')
    Entity('widgets')(Widget)
    decorators.Resource({ shared: true })(Widget)
    expect(problemsOf(Widget as EntityClass<object>)).to.deep.equal([
      'glow: @OutputOnly: there is no option shiny; valid: filterable, generated',
    ])
  })
})
