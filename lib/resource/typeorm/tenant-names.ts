import { getMetadataArgsStorage } from 'typeorm'
import { lineage } from '../../../decorators/entity-facts.js'
import { hiddenProperty } from '../../../decorators/columns/column-naming.js'

/** Common names of a tenant's column or relation, without `id`. */
const NAMES: ReadonlySet<string> = new Set([
  ...['tenant', 'account', 'org', 'organization', 'organisation', 'workspace', 'company', 'team'],
])

/** Returns the properties of an entity whose name, column or relation resembles a tenant's. */
export function namedLikeTenants(entity: object): readonly string[] {
  const { columns, relations, joinColumns, embeddeds } = getMetadataArgsStorage()
  const classes = new Set<unknown>(lineage(entity))
  const isOwn = ({ target }: { readonly target: unknown }) => classes.has(target)
  const parts = embeddeds
    .filter(isOwn)
    .flatMap(({ propertyName, type }) =>
      namedLikeTenants((type as () => object)()).map((part) => `${propertyName}.${part}`),
    )
  const found = [
    ...columns.filter(isOwn).filter(({ propertyName, options }) => isNamed(propertyName, options.name)),
    ...relations.filter(isOwn).filter(({ propertyName }) => isNamed(propertyName)),
    ...joinColumns
      .filter(isOwn)
      .filter(({ propertyName, name }) => isNamed(hiddenProperty(propertyName), name)),
  ]
  return [...new Set([...found.map(({ propertyName }) => propertyName), ...parts])]
}

const isNamed = (...names: readonly (string | undefined)[]): boolean =>
  names.some((name = '') => isTenantName(name))

/** Returns true if the name of a column or property resembles a tenant's. */
export function isTenantName(name: string): boolean {
  const word = name.toLowerCase().replace(/[^a-z]/g, '')
  return NAMES.has(word) || NAMES.has(word.replace(/id$/, ''))
}
