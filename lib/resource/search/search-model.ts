import { problem, type Problem } from '../../errors.js'
import type { DescMessage } from '@bufbuild/protobuf'
import type { EntityFacts } from '../../../decorators/entity-facts.js'
import type { SearchSource } from '../../../decorators/searchable.js'
import { behaves } from '../behavior/field-behavior.js'
import { fieldMarks } from '../behavior/field-marks.js'
import { parseCel, type CelNode } from './cel.js'
import type { Field } from '../fields/field.js'
import { kindOf } from '../kinds/kinds.js'
import { misspelt } from '../../text/misspelt.js'
import { rawSqlProblem } from './raw-sql.js'

/** A source of searchable text. An expression without `cel` requires PostgreSQL. */
export type SearchPart =
  | { readonly kind: 'field'; readonly field: Field }
  | { readonly kind: 'expression'; readonly postgres: string | undefined; readonly cel: CelNode | undefined }

/** The text that `q` searches. */
export interface SearchModel {
  readonly parts: readonly SearchPart[]
  readonly strategy: 'JIT' | 'INDEXED'
  readonly textConfig: string
}

const TEXT_CONFIG = /^[a-z_][a-z0-9_]*$/

/** Reads the `@Searchable` declarations. The model is undefined if there are none. */
export function searchModelOf(
  facts: EntityFacts,
  fields: readonly Field[],
  message: DescMessage | undefined,
  table: string,
  /** The name of the entity. */
  entity: string,
): { readonly model: SearchModel | undefined; readonly problems: readonly Problem[] } {
  const marked = [...facts.properties]
    .filter(([, { searchable }]) => searchable)
    .map(([property]) => property)
  const sources: readonly SearchSource[] = [...marked, ...(facts.searchable?.sources ?? [])]
  if (sources.length === 0 && facts.searchable === undefined) return { model: undefined, problems: [] }

  const problems: Problem[] = []
  const parts: SearchPart[] = []
  for (const source of sources) {
    const part =
      typeof source === 'string'
        ? fieldPart(source, facts, fields, message, entity)
        : expressionPart(source, fields, table)
    if (typeof part === 'string')
      problems.push({
        ...problem('search', `@Searchable: ${part}`),
        ...(typeof source === 'string' ? { property: source } : {}),
      })
    else parts.push(part)
  }
  const textConfig = facts.searchable?.textConfig ?? 'simple'
  if (sources.length === 0)
    problems.push(
      problem(
        'search',
        '@Searchable: there is no source',
        'mark a property with @Searchable() or list sources',
      ),
    )
  if (!TEXT_CONFIG.test(textConfig))
    problems.push(
      problem(
        'search',
        `@Searchable: ${JSON.stringify(textConfig)} is not a text search configuration`,
        'use a name such as simple or english',
      ),
    )
  return {
    model: Object.freeze({ parts, strategy: facts.searchable?.strategy ?? 'JIT', textConfig }),
    problems,
  }
}

function fieldPart(
  name: string,
  facts: EntityFacts,
  fields: readonly Field[],
  message: DescMessage | undefined,
  entity: string,
): SearchPart | string {
  const role = facts.properties.get(name)?.role
  if (role === 'secret' || role === 'credential') return `${name} is a ${role}, which is never searched`
  if (role === 'computed') return `${name} is computed, but only stored values can be searched`
  const field = fields.find(({ property }) => property === name) ?? fields.find(({ proto }) => proto === name)
  if (field === undefined || field.role === 'secret' || field.role === 'credential')
    return `there is no property ${name}: ${misspelt(
      name,
      entity,
      fields.filter((one) => kindOf(one).isText).map(({ property }) => property),
    )}`
  if (field.transformed !== undefined)
    return `${name} has a transformer, so its column contains another string: write an expression`
  if (!kindOf(field).isText)
    return `${name} is ${field.kind}: only strings are searched; write an expression for other types`
  const inMessage = field.exposed
    ? message?.fields.find(({ name: shown }) => shown === field.proto)
    : undefined
  if (inMessage !== undefined && fieldMarks(inMessage).isSecret)
    return `${name} is marked secret, so its content must not be found by searching`
  if (inMessage !== undefined && behaves(inMessage, 'INPUT_ONLY'))
    return `${name} is input-only, so its content must not be found by searching`
  return { kind: 'field', field }
}

function expressionPart(
  source: Exclude<SearchSource, string>,
  fields: readonly Field[],
  table: string,
): SearchPart | string {
  const postgres = 'sql' in source ? source.sql.postgres : undefined
  const problem = postgres === undefined ? undefined : rawSqlProblem(postgres, fields, table)
  if (problem !== undefined) return `sql.postgres ${JSON.stringify(postgres)}: ${problem}`
  if (source.cel === undefined) return { kind: 'expression', postgres, cel: undefined }
  const cel = parseCel(source.cel, fields)
  return typeof cel === 'string'
    ? `cel ${JSON.stringify(source.cel)}: ${cel}`
    : { kind: 'expression', postgres, cel }
}
