import type { Field } from '../../resource/fields/field.js'
import { isOwning } from '../../resource/relations/relation.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { IdentifyingColumn } from '../dialects/catalog/inexact-columns.js'
import type { Dialect } from '../dialects/dialect.js'

/**
 * Returns how columns must be compared that identify a row, its owner or a referenced row, or that declare a
 * collation. For an existing table, columns whose type may change their values are included, too.
 */
export const identifyingColumns = (
  model: ResourceModel,
  { values: { kinds } }: Pick<Dialect, 'values'>,
): readonly IdentifyingColumn[] => {
  const { key, tenant, secrets, credentials, relations, fields } = model
  const references = relations.filter(isOwning).map(({ reference }) => reference)
  const held = [...secrets.map(({ hash }) => hash), ...credentials.map(({ publicId }) => publicId)]
  const named = fields.filter(
    ({ kind, inName, collation }) => kinds[kind].isText && (inName === true || collation !== undefined),
  )
  const ones = [key, tenant, ...references, ...held, ...named].filter((field) => field !== undefined)
  const identifying = new Set(ones)
  const altered = fields.flatMap((field): IdentifyingColumn[] => {
    const { alteredBy, type } = kinds[field.kind]
    if (!model.existing || alteredBy === undefined || identifying.has(field)) return []
    return [{ column: field.column, type: type(field), alteredBy: (found) => alteredBy(found, field) }]
  })
  const compared = [...identifying].map((field) => {
    const { exactAs, type } = kinds[field.kind]
    return {
      column: field.column,
      type: type(field),
      isExactAs: exactAs && ((found: string) => exactAs(field, found)),
      collation: field.collation,
      declare: model.existing && !held.includes(field) ? declaring(field, model) : undefined,
    }
  })
  return [...compared, ...altered]
}

const declaring = (field: Field, { relations }: ResourceModel) => {
  const relation = relations.filter(isOwning).find(({ reference }) => reference === field)
  const place = relation?.isHidden === true ? `a property for ${relation.property}` : field.property
  const decorator = field.role === 'key' ? '@PrimaryColumn' : '@Column'
  return (collation: string): string => `declare ${decorator}({ collation: '${collation}' }) on ${place}`
}
