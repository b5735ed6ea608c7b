import type { EntityClass } from '../../../lib/resource/resource-model.js'
import type { Engine } from '../properties/property-kinds.js'
import type { Shown } from './declared-row.js'
import type { Lives } from './lives.js'

/** What a declaration of a row is applied to, and the classes it may refer to. */
export interface Around {
  readonly prototype: object
  readonly entity: EntityClass<object>
  readonly engine: Engine
  /** A resource. */
  readonly owner: EntityClass<object>
  /** A class that only TypeORM knows. */
  readonly pen: EntityClass<object>
}

/** `left to TypeORM`: Ashlar neither reads nor writes it. */
export type Outcome = 'carried out' | 'without effect' | 'left to TypeORM'

/** One decorator, or one option of it, on a class that is otherwise in order. */
export interface Row {
  readonly decorator: string
  /** The options of the decorator that the declaration has; none for the decorator itself. */
  readonly options?: readonly string[]
  /** The declaration as an application writes it. */
  readonly code: string
  readonly outcome: Outcome
  /** What Ashlar does, as a sentence of the reference. */
  readonly does: string
  readonly declare: (around: Around) => void
  /** The property that it declares. */
  readonly property?: string
  /** The field of the message; undefined for a property without a field. */
  readonly field?: Shown
  readonly designType?: unknown
  /** Values of the property, at least two. Without them nothing is written. */
  readonly values?: readonly unknown[]
  /** The part of the class that it declares instead of the class itself. */
  readonly replaces?: 'key' | 'entity' | 'deletion'
  /** The field of the key, where it is not a string. */
  readonly keyField?: Shown
  /** Engines on which TypeORM has it. Default: all. */
  readonly engines?: readonly Engine[]
  /** Default: both. */
  readonly tables?: 'new' | 'existing'
  /** The value after a create, whatever the create says. */
  readonly created?: unknown
  /** True if no update changes it. */
  readonly isFixed?: true
  /** True if TypeORM reads it only where it is selected. */
  readonly isUnselected?: true
  /** Engines on which TypeORM's manager reads the value in another form. */
  readonly readsOtherwise?: readonly Engine[]
  /** True if a delete removes the row. */
  readonly isRemoved?: true
  /** What only this row shows. */
  readonly shows?: (lives: Lives) => Promise<void>
  /** True for the row of its kind that runs in each `npm test`. */
  readonly isOfEachTest?: true
}
