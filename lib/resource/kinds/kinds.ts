import { bool } from './bool.js'
import { bytes } from './bytes.js'
import { duration } from './duration.js'
import { decimal, double, float } from './fractions.js'
import { int32, int64, uint32, uint64 } from './integers.js'
import { json, tags } from './json.js'
import type { Kind, KindName } from './kind.js'
import { enumeration, string } from './text.js'
import { date, timestamp } from './timestamp.js'
import { uuid } from './uuid.js'

/** Everything that a column can hold. What a database does with each is in `lib/persistence/dialects`. */
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

/** The kind of a field. */
export const kindOf = ({ kind }: { readonly kind: KindName }): Kind => KINDS[kind]
