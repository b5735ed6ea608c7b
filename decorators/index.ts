/**
 * The decorators of entities and their properties.
 * @module
 */
export { Computed } from './computed.js'
export { Credential } from './credential.js'
export { Default } from './default.js'
export { type ChangeKind, Emits, type EmitsOptions } from './emits.js'
export { Expirable, type ExpirableOptions } from './expirable.js'
export { OutputOnly, type OutputOnlyOptions } from './output-only.js'
export { EnumLabels, Internal, ProtoField, RenamedFrom } from './property-mapping.js'
export { Resource, type ResourceOptions } from './resource.js'
export { Searchable, type SearchableOptions, type SearchSource } from './searchable.js'
export { Secret } from './secret.js'
export { CreateTime, ETag, UpdateTime } from './server-set.js'
export { SoftDeletable } from './soft-deletable.js'
export { Tags } from './tags.js'
export { TenantColumn, TenantScoped, type TenantScopedOptions, withoutTenants } from './tenant-scoped.js'
