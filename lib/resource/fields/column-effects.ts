import type { DescField } from '@bufbuild/protobuf'
import type { ColumnOptions } from 'typeorm'
import { type Problem, propertyProblem } from '../../errors.js'
import { behaves } from '../behavior/field-behavior.js'
import type { Field, Role } from './field.js'
import { kindOf } from '../kinds/kinds.js'
import { transformersOf } from '../kinds/managed.js'

/** The options of `@Column()` that control when a column is read and written. */
export type ColumnEffects = Pick<
  Field,
  'tableDefault' | 'isFilledByTable' | 'isNotInserted' | 'isNotUpdated' | 'isWithheld' | 'onUpdate'
>

/** Roles whose values only clients and application code set. */
const OPEN: ReadonlySet<Role> = new Set(['plain', 'outputOnly'])

/**
 * Returns the effects of a column's options. An SQL default on a key, or on one of Ashlar's timestamps,
 * applies only to other writers, because a repository sends these values.
 */
export function columnEffects(
  role: Role,
  { mode, options }: { readonly mode: string; readonly options: ColumnOptions },
): ColumnEffects {
  const { insert, onUpdate, select, update } = options
  const initial: unknown = options.default
  const isOpen = OPEN.has(role)
  const isOfTable =
    typeof initial === 'function' || (transformersOf(options) !== undefined && (initial ?? null) !== null)
  // TypeORM's manager lets the table set these timestamps.
  const isStamped = (mode === 'createDate' || mode === 'updateDate') && !isOfTable
  return {
    ...(isStamped && { tableDefault: 'now' as const }),
    ...(isOfTable && {
      tableDefault:
        typeof initial === 'function' ? { sql: String((initial as () => unknown)()) } : { constant: initial },
    }),
    ...((isOfTable || insert === false) && isOpen && { isFilledByTable: true as const }),
    ...(insert === false && isOpen && { isNotInserted: true as const }),
    ...(update === false && { isNotUpdated: true as const }),
    ...(select === false && { isWithheld: true as const }),
    ...(onUpdate !== undefined && isOpen && { onUpdate }),
  }
}

/** The roles whose values change with each write or with a deletion. */
const UPDATED: ReadonlySet<Role> = new Set(['etag', 'version', 'updateTime', 'deleteTime', 'expireTime'])

/** Returns the reasons why a field cannot have the options of its column. */
export function* effectProblems(
  field: Field,
  options: ColumnOptions,
  inMessage: DescField | undefined,
  {
    isReference,
    isExisting,
  }: {
    readonly isReference: boolean
    readonly isExisting: boolean
  },
): Generator<Problem> {
  const { property, proto, role, exposed, nullable, isWithheld } = field
  const { insert, onUpdate, update } = options
  const initial: unknown = options.default
  const refused = (option: string, advice: string) =>
    propertyProblem(
      'column',
      property,
      `${property}: the column option ${option} is not supported on ${NAMES[role] ?? `the field ${proto}`}`,
      advice,
    )
  const isOpen = OPEN.has(role)
  if (isWithheld === true && exposed && inMessage !== undefined && !behaves(inMessage, 'INPUT_ONLY'))
    yield propertyProblem(
      'column',
      property,
      `${property}: select: false keeps it out of responses, but ${proto} is a field of the message`,
      'mark the field as INPUT_ONLY, remove it from the message, or remove select: false',
    )
  if (transformersOf(options) !== undefined && (!isOpen || isReference))
    yield propertyProblem(
      'column',
      property,
      `${property}: the column option transformer is not supported on ${isReference ? 'a reference' : (NAMES[role] ?? role)}`,
      'a repository compares and sets its values as the column stores them: remove transformer',
    )
  if (insert === false && !isOpen && role !== 'deleteTime')
    yield refused('insert: false', 'a repository sets it at every create: remove the option')
  if (update === false && UPDATED.has(role))
    yield refused('update: false', 'a repository sets it later: remove the option')
  if (
    typeof initial === 'function' &&
    !isOpen &&
    kindOf(field).key?.takesUuid(field) !== true &&
    role !== 'createTime' &&
    role !== 'updateTime'
  )
    yield refused(
      'default',
      `the server sets it: remove the default${role === 'key' ? ', and pass the option newKey to the repository' : ''}`,
    )
  if (onUpdate !== undefined && !isOpen && role !== 'updateTime')
    yield refused('onUpdate', 'a table must not change it: remove the option')
  if (insert === false && isOpen && !nullable && (initial ?? null) === null && !isExisting)
    yield propertyProblem(
      'column',
      property,
      `${property}: insert: false omits it from every create, but its column is NOT NULL without a default`,
      'add a default, or nullable: true',
    )
}

const NAMES: Readonly<Partial<Record<Role, string>>> = {
  key: 'the key',
  tenant: 'the tenant',
  etag: 'the etag',
  version: 'the version',
  createTime: 'the create time',
  updateTime: 'the update time',
  deleteTime: 'the delete time',
  expireTime: 'the expire time',
}
