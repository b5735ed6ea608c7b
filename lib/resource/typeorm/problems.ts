import { distinctProblems, problem, type Problem, propertyProblem } from '../../errors.js'
import { getMetadataArgsStorage } from 'typeorm'
import { isKeptTime } from '../../../decorators/columns/kept-times.js'
import { type EntityFacts, lineage } from '../../../decorators/entity-facts.js'
import { ManagedValues } from '../kinds/managed.js'
import { nearestNames } from '../../text/nearest-names.js'
import { wrongValue } from '../../text/shown-value.js'
import {
  type AnyOptionRule,
  type ArgsOf,
  COLUMN_OPTIONS,
  DECLARATIONS,
  DECLARATIONS_OF_EXISTING,
  type DeclarationRule,
  type Declared,
  ENTITY_OPTIONS,
  INDEX_OPTIONS,
  JOIN_COLUMN_OPTIONS,
  type OptionRule,
  OPTIONS_OF_ENUMS,
  OPTIONS_OF_EXISTING,
  OPTIONS_OF_GENERATED,
  RELATION_OPTIONS,
  type Rule,
  UNIQUE_OPTIONS,
} from './declaration-rules.js'
import { primaryProperties } from './primary-properties.js'

/** The parts of an entity's TypeORM declarations that are not supported. */
export interface TypeormProblems {
  readonly problems: readonly Problem[]
  /** Properties that are rejected as a whole, so that their other problems are omitted. */
  readonly properties: ReadonlySet<string>
}

/** The alternative offered for a declaration that no field needs. */
const OR_INTERNAL = '; or add @Internal(), so that Ashlar does not manage it'

type Args = Readonly<Record<string, unknown>>

const NONE: ReadonlySet<string> = new Set()

/**
 * Checks all TypeORM declarations of an entity and its ancestors against the rules.
 * @param internal - properties that only TypeORM manages.
 * @param embedded - properties with a supported embedded class.
 */
export function typeormProblems(
  entity: { readonly name: string },
  facts: EntityFacts,
  internal: ReadonlySet<string>,
  embedded: ReadonlySet<string> = NONE,
): TypeormProblems {
  const classes = new Set<unknown>(lineage(entity))
  const problems: Problem[] = []
  const properties = new Set<string>()
  const primary = primaryProperties(classes)
  for (const [list, entries] of Object.entries(getMetadataArgsStorage()) as [string, unknown][]) {
    if (!Array.isArray(entries)) continue
    if (facts.resource?.existing === true && DECLARATIONS_OF_EXISTING.has(list)) continue
    const rule = ruleOf(list)
    for (const args of entries as Args[]) {
      if (!classes.has(args['target'])) continue
      const property = args['propertyName'] as string | symbol | undefined
      if (property !== undefined && internal.has(String(property))) continue
      if (list === 'embeddeds' && embedded.has(String(property))) continue
      if (list === 'columns' && isKeptTime(args as unknown as ArgsOf<'columns'>, facts)) continue
      // Symbols are not converted to strings implicitly.
      const named = property === undefined ? args : { ...args, propertyName: String(property) }
      // A rule accepts only the arguments of its own decorator. The list that contained the declaration
      // guarantees that they match.
      const wrong = rule?.(named as never, entity.name)
      if (wrong === undefined) continue
      problems.push(
        ofProperty(
          property === undefined ? undefined : String(property),
          `${wrong}${property === undefined || primary.has(property) || wrong.includes('@Internal()') ? '' : OR_INTERNAL}`,
        ),
      )
      if (property !== undefined) properties.add(String(property))
    }
  }
  return {
    problems: distinctProblems([
      ...problems,
      ...optionProblems(classes, new Set([...properties, ...internal]), facts),
    ]),
    properties,
  }
}

function ruleOf(list: string): DeclarationRule<Declared> | undefined {
  if (!Object.hasOwn(DECLARATIONS, list))
    return (args) =>
      `${(args as { propertyName?: string }).propertyName ?? 'it'}: this version of Ashlar does not know what TypeORM stores as ${list}`
  const rule = DECLARATIONS[list as Declared] as Rule<DeclarationRule<Declared>>
  return typeof rule === 'function' ? rule : undefined
}

function* optionProblems(
  classes: ReadonlySet<unknown>,
  refused: ReadonlySet<string>,
  facts: EntityFacts,
): Generator<Problem> {
  const { tables, columns, indices, uniques, relations, joinColumns } = getMetadataArgsStorage()
  const of = <K extends Declared>(list: readonly ArgsOf<K>[]) =>
    list.filter(({ target }) => classes.has(target))
  for (const { type, target: _, ...options } of of<'tables'>(tables))
    if (type === 'regular') yield* refusedOptions(options, ENTITY_OPTIONS, '@Entity()', 'option')
  for (const { propertyName, options } of of<'columns'>(columns))
    if (!refused.has(propertyName))
      yield* refusedOptions(
        optionsLeft(options, propertyName, facts),
        COLUMN_OPTIONS,
        propertyName,
        'column option',
        propertyName,
      )
  for (const { propertyName, options, isLazy } of of<'relations'>(relations))
    if (!refused.has(propertyName))
      yield* refusedOptions(
        isLazy ? { ...options, lazy: true } : options,
        RELATION_OPTIONS,
        propertyName,
        'relation option',
        propertyName,
      )
  for (const { target: _, propertyName, ...options } of of<'joinColumns'>(joinColumns))
    if (!refused.has(propertyName))
      yield* refusedOptions(
        options,
        JOIN_COLUMN_OPTIONS,
        propertyName,
        'option of @JoinColumn()',
        propertyName,
      )
  yield* doubledColumns(of<'columns'>(columns).filter(({ propertyName }) => !refused.has(propertyName)))
  for (const { target: _, columns: on, ...options } of of<'indices'>(indices))
    if (options.synchronize !== false && facts.resource?.existing !== true)
      yield* refusedOptions(options, INDEX_OPTIONS, `@Index() of ${namesOf(on)}`, 'option')
  for (const { target: _, columns: on, ...options } of of<'uniques'>(uniques))
    if (facts.resource?.existing !== true)
      yield* refusedOptions(options, UNIQUE_OPTIONS, `@Unique() of ${namesOf(on)}`, 'option')
}

/** For these types the scale is checked together with the type. */
const DECIMALS: ReadonlySet<unknown> = new Set(['numeric', 'decimal'])

/** Returns the options of a column without those that its table implements. */
function optionsLeft(options: object, property: string, { properties, resource }: EntityFacts): object {
  const isGenerated = properties.get(property)?.generated === true
  const isExisting = resource?.existing === true
  const isDecimal = DECIMALS.has(Reflect.get(options, 'type'))
  const hasMessage = resource?.message !== undefined
  if (!isGenerated && !isExisting && !isDecimal && !hasMessage) return options
  return Object.fromEntries(
    Object.entries(options).filter(
      ([name]) =>
        !(isGenerated && OPTIONS_OF_GENERATED.has(name)) &&
        !(isExisting && OPTIONS_OF_EXISTING.has(name)) &&
        !(isDecimal && name === 'scale') &&
        !(hasMessage && OPTIONS_OF_ENUMS.has(name)),
    ),
  )
}

/** Returns an option's value unless Ashlar set it. */
function given(options: object, name: string): unknown {
  const value: unknown = Reflect.get(options, name)
  return value instanceof ManagedValues ? undefined : value
}

/**
 * Yields problems for two decorators on one column, such as @ETag() and @Column(). Equal declarations are
 * accepted.
 */
function* doubledColumns(columns: readonly ArgsOf<'columns'>[]): Generator<Problem> {
  for (const [index, { target, propertyName, options }] of columns.entries()) {
    const other = columns
      .slice(0, index)
      .find((one) => one.target === target && one.propertyName === propertyName)
    if (other === undefined) continue
    const differing = Object.keys({ ...options, ...other.options }).filter(
      (name) => name !== 'type' && given(options, name) !== given(other.options, name),
    )
    if (differing.length > 0)
      yield propertyProblem(
        'typeorm',
        propertyName,
        `${propertyName}: two decorators create its column and differ in ${differing.join(', ')}`,
        'keep one of them',
      )
  }
}

const namesOf = (columns: ArgsOf<'indices'>['columns']): string =>
  Array.isArray(columns) ? columns.join(', ') : 'the class'

/** Returns a problem of a property, or of the class if there is no property. */
const ofProperty = (property: string | undefined, rule: string, advice?: string): Problem =>
  property === undefined
    ? problem('typeorm', rule, advice)
    : propertyProblem('typeorm', property, rule, advice)

function* refusedOptions(
  options: object,
  rules: Readonly<Record<string, AnyOptionRule>>,
  subject: string,
  kind: string,
  property?: string,
): Generator<Problem> {
  for (const [name, value] of Object.entries(options) as [string, unknown][]) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : unknownOption(name, Object.keys(rules))
    if (rule === undefined || typeof rule === 'string') continue
    if ('values' in rule) {
      if (value !== undefined && !rule.values.includes(value))
        yield ofProperty(property, `${subject}: the ${kind} ${name} is ${wrongValue(value, rule.values)}`)
    } else if ((rule.asks ?? isSaid)(value)) {
      const said = value === false ? `${name}: false` : name
      const isAdvised = property !== undefined && rule.isMisspelt !== true
      const instead = isAdvised ? `${rule.instead}${OR_INTERNAL}` : rule.instead
      yield ofProperty(property, `${subject}: the ${kind} ${said} is not supported`, instead)
    }
  }
}

const isSaid = (value: unknown): boolean => value !== undefined && value !== null && value !== false

/** Returns the rule for an unknown option: a misspelt name, or an option that only a newer TypeORM has. */
function unknownOption(name: string, known: readonly string[]): OptionRule {
  const [near] = nearestNames(name, known)
  return {
    asks: (value) => value !== undefined,
    isMisspelt: near !== undefined,
    instead: near === undefined ? 'this version of Ashlar does not know it' : `did you mean ${near}?`,
  }
}
