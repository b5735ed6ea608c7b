import { bool } from './bool.js'
import { bytes } from './bytes.js'
import { duration } from './duration.js'
import { decimal, double, float } from './fractions.js'
import { int32, int64, uint32, uint64 } from './integers.js'
import { json, tags } from './json.js'
import type { Facets, Kind, KindName, PropertyForm } from './kind.js'
import { enumeration, string } from './text.js'
import { date, timestamp } from './timestamp.js'
import { uuid } from './uuid.js'

/** Everything that a column can store. `lib/persistence/dialects` defines how each database stores it. */
export const KINDS: Readonly<Record<KindName, Kind>> = {
  string,
  uuid,
  date,
  int32,
  uint32,
  int64,
  uint64,
  float,
  double,
  decimal,
  bool,
  timestamp,
  duration,
  bytes,
  json,
  tags,
  enum: enumeration,
}

/** Converts a property's value to the kind's own form. A value in an unknown form is returned unchanged. */
export const ownOf = (value: unknown, { held }: Pick<Facets, 'held'>): unknown =>
  held === undefined ? value : (held.toOwn(value) ?? value)

/** Converts a value from the kind's own form to the property's form. */
export const heldOf = (own: unknown, { held }: Pick<Facets, 'held'>): unknown =>
  held === undefined || own === undefined ? own : held.fromOwn(own)

/** Returns the property's form if it differs from the message's. Undefined if both are the same. */
export function propertyForm(field: Facets & { readonly kind: KindName }): PropertyForm | undefined {
  const { form, fromWire, toWire } = kindOf(field)
  if (field.held === undefined) return form?.(field)
  return {
    toWire: (value) => (toWire === undefined ? ownOf(value, field) : toWire(ownOf(value, field))),
    fromWire: (value) => heldOf(fromWire === undefined ? value : fromWire(value), field),
  }
}

/** Returns the kind of a field. */
export const kindOf = ({ kind }: { readonly kind: KindName }): Kind => KINDS[kind]
