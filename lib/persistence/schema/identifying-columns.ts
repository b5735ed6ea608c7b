import type { ResourceModel } from '../../resource/resource-model.js'
import type { IdentifyingColumn } from '../dialects/catalog/inexact-columns.js'
import type { Dialect } from '../dialects/dialect.js'

/** The columns that identify a row or its owner, and how they have to be compared. */
export const identifyingColumns = (
  { key, tenant, secrets, credentials }: ResourceModel,
  { kinds }: Pick<Dialect, 'kinds'>,
): readonly IdentifyingColumn[] =>
  [key, tenant, ...secrets.map(({ hash }) => hash), ...credentials.map(({ publicId }) => publicId)].flatMap(
    (field) => {
      if (field === undefined) return []
      const { exactAs, type } = kinds[field.kind]
      return {
        column: field.column,
        type: type(field),
        isExactAs: exactAs && ((found: string) => exactAs(field, found)),
      }
    },
  )
