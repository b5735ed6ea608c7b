import { distinctProblems, problem, type Problem } from '../errors.js'
import { strategyOf } from '../../decorators/columns/column-naming.js'
import type { DecoratorCall } from '../../decorators/entity-facts.js'
import type {
  EmitsOptions,
  ExpirableOptions,
  OutputOnlyOptions,
  ResourceOptions,
  SearchableOptions,
  TenantScopedOptions,
} from '../../decorators/index.js'
import { didYouMean } from '../text/nearest-names.js'
import { descriptorName, isDescriptor, shownGenerated } from './messages/descriptor.js'
import { shownValue, wrongValue } from '../text/shown-value.js'

/** The valid values of an option, or a function that returns the requirement if a value is invalid. */
type OptionRule = readonly unknown[] | ((value: unknown) => string | undefined)
type RulesOf<Options> = { readonly [Name in keyof Required<Options>]: OptionRule }

const YES_OR_NO = [true, false] as const
const text: OptionRule = (value) => (typeof value === 'string' ? undefined : 'a text')
/** Accepts every value, because the decorator itself checks it. */
const anything: OptionRule = () => undefined

const RESOURCE: RulesOf<ResourceOptions> = {
  message: (value) => (isDescriptor('message', value) ? undefined : descriptorName('message')),
  type: (value) =>
    typeof value === 'string' && value !== '' ? undefined : 'a name, such as "task" or "archived_task"',
  shared: YES_OR_NO,
  shape: ['gorm', 'ent'],
  naming: (value) =>
    value === 'snake' || strategyOf(value) !== undefined
      ? undefined
      : `'snake', 'typeorm' or a naming strategy of TypeORM, such as new MyNamingStrategy()`,
  existing: YES_OR_NO,
}
const SEARCHABLE: RulesOf<SearchableOptions> = {
  sources: (value) => (Array.isArray(value) && value.every(isSource) ? undefined : SOURCES),
  strategy: ['JIT', 'INDEXED'],
  textConfig: text,
}
const EXPIRABLE: RulesOf<ExpirableOptions> = { ttl: anything }
const EMITS: RulesOf<EmitsOptions> = {
  ...{ on: anything, include: anything, source: anything },
  freeForm: (value) =>
    Array.isArray(value) && value.every((one) => typeof one === 'string')
      ? undefined
      : 'a list of fields, as the .proto names them',
}
const TENANT_SCOPED: RulesOf<TenantScopedOptions> = {
  column: (value) => (typeof value === 'string' && value !== '' ? undefined : 'the name of a property'),
}
const OUTPUT_ONLY: RulesOf<OutputOnlyOptions> = { filterable: YES_OR_NO, generated: YES_OR_NO }

const SOURCES =
  'a list of sources: each is the name of a property, { sql: { postgres: "…" } } with or without cel, or { cel: "…" }'

const isSource = (source: unknown): boolean => {
  if (typeof source === 'string') return true
  if (typeof source !== 'object' || source === null) return false
  const { sql, cel, ...others } = source as { readonly sql?: unknown; readonly cel?: unknown }
  const isSql = sql === undefined || isPostgres(sql)
  const isCel = cel === undefined || typeof cel === 'string'
  return isSql && isCel && (sql !== undefined || cel !== undefined) && Object.keys(others).length === 0
}

const isPostgres = (sql: unknown): boolean =>
  typeof sql === 'object' &&
  sql !== null &&
  Object.keys(sql).join() === 'postgres' &&
  typeof (sql as { readonly postgres: unknown }).postgres === 'string'

/** The options of each decorator. Decorators without an entry have no options. */
const OPTIONS: Readonly<Record<string, Readonly<Record<string, OptionRule>>>> = {
  Resource: RESOURCE,
  Searchable: SEARCHABLE,
  Expirable: EXPIRABLE,
  Emits: EMITS,
  TenantScoped: TENANT_SCOPED,
  OutputOnly: OUTPUT_ONLY,
  CreateTime: OUTPUT_ONLY,
  UpdateTime: OUTPUT_ONLY,
}

/** Returns a problem for each unknown option and each invalid value of a decorator. */
export const decoratorProblems = (calls: readonly DecoratorCall[]): readonly Problem[] =>
  distinctProblems(calls.flatMap((call) => [...problemsOf(call)]))

function* problemsOf({ decorator, property, given: [options] }: DecoratorCall): Generator<Problem> {
  const subject = `${property === undefined ? '' : `${property}: `}@${decorator}`
  const wrong = (rule: string, advice?: string): Problem => ({
    ...problem('decorator', rule, advice),
    ...(property === undefined ? {} : { property }),
  })
  const rules = OPTIONS[decorator]
  if (options === undefined) return
  if (rules === undefined) {
    yield wrong(`${subject} takes no options`, `write @${decorator}()`)
    return
  }
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    yield wrong(
      `${subject} takes an object of options, not ${shownValue(options)}${didYouMean('', Object.keys(rules))}`,
    )
    return
  }
  const said = Object.entries(options).filter(([, value]) => value !== undefined)
  if (decorator === 'Searchable' && property !== undefined) {
    if (said.length > 0)
      yield wrong(`${subject} marks a property and takes no options`, 'write them on the class')
    return
  }
  for (const [name, value] of said) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
    const found =
      rule === undefined
        ? `there is no option ${name}${hintFor(decorator, name) ?? didYouMean(name, Object.keys(rules))}`
        : valueProblem(rule, name, value)
    if (found !== undefined) yield wrong(`${subject}: ${found}`)
  }
}

const hintFor = (decorator: string, name: string): string | undefined =>
  decorator === 'Searchable' && (name === 'sql' || name === 'cel')
    ? `: it belongs to a source: write sources: [{ ${name}: … }]`
    : undefined

function valueProblem(rule: OptionRule, name: string, value: unknown): string | undefined {
  if (typeof rule === 'function') {
    const expected = rule(value)
    return expected === undefined ? undefined : `${name} is ${shownGenerated(value)}, but must be ${expected}`
  }
  return rule.includes(value) ? undefined : `${name} is ${wrongValue(value, rule)}`
}
