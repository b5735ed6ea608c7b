import { create, type DescField, type DescMessage, type Message } from '@bufbuild/protobuf'
import { entryKey } from '../../resource/messages/entry-key.js'
import { getField } from '../../resource/messages/local-field.js'
import { behaves, holdsField, isSetByServer } from '../../resource/behavior/field-behavior.js'
import { checkMaskPaths } from '../../resource/mask-paths.js'
import { maskToWrite } from '../methods/resource-request.js'
import { type Locked, lockedBy } from './locked-fields.js'
import { inElement, type MaskTree, maskTree } from './mask-tree.js'
import { isEmpty } from './is-empty.js'
import type { Violations } from './violations.js'
import { resourceOf, type UpdateRequest, updateRequest } from './update-request.js'

/** Checks a message against `google.api.field_behavior` and collects the violations. */
export type FieldCheck = (message: Message, ignoredMask: readonly string[], violations: Violations) => void

/** Returns the check of a message type; undefined if no field at any depth has a rule. */
export const fieldCheck = (desc: DescMessage): FieldCheck | undefined => {
  const plan = planOf(desc)
  if (plan === undefined) return undefined
  return (message, ignoredMask, violations) => walk(plan, message, undefined, violations, ignoredMask)
}

/** The checks of one message type, computed once. */
interface Plan {
  readonly desc: DescMessage
  /** The fields that can be missing, or that contain a message with such fields. */
  readonly steps: readonly Step[]
  readonly update: Update | undefined
}

interface Step {
  readonly field: DescField
  readonly isMissing: ((message: Message) => boolean) | undefined
  readonly inner: Plan | undefined
}

type Update = UpdateRequest & { readonly locked: (path: string) => Locked | undefined }

const plans = new WeakMap<DescMessage, Plan>()

const planOf = (desc: DescMessage): Plan | undefined => {
  const known = plans.get(desc)
  if (known !== undefined) return known
  if (!holdsField(desc, hasRule) && !holdsField(desc, isLockedResource)) return undefined
  const steps: Step[] = []
  const plan: { -readonly [K in keyof Plan]: Plan[K] } = { desc, steps, update: undefined }
  // The plan is registered before its fields are read, because messages can be recursive.
  plans.set(desc, plan)
  for (const field of desc.fields) {
    const isMissing = isRequired(field) ? isEmpty(field) : undefined
    const inner = field.message && planOf(field.message)
    if (isMissing !== undefined || inner !== undefined) steps.push({ field, isMissing, inner })
  }
  plan.update = updateOf(desc)
  return plan
}

const hasRule = (field: DescField): boolean => isRequired(field) && isEmpty(field) !== undefined

const isRequired = (field: DescField): boolean => behaves(field, 'REQUIRED') && !isSetByServer(field)

const isLockedResource = (field: DescField): boolean => {
  const update = updateRequest(field.parent)
  return update?.resource === field && lockedBy(update.resource.message) !== undefined
}

const updateOf = (desc: DescMessage): Update | undefined => {
  const update = updateRequest(desc)
  if (update === undefined) return undefined
  const { message } = update.resource
  const locked = lockedBy(message)
  return locked === undefined && planOf(message) === undefined
    ? undefined
    : { ...update, locked: locked ?? (() => undefined) }
}

const walk = (
  plan: Plan,
  message: Message,
  tree: MaskTree | undefined,
  violations: Violations,
  ignoredMask: readonly string[],
): void => {
  const { update } = plan
  const written = update && writtenBy(update, message, violations, ignoredMask)
  for (const { field, isMissing, inner } of plan.steps) {
    if (violations.isFull) return
    if (tree !== undefined && !tree.has(field.name)) continue
    const below = tree?.get(field.name)
    if (below === undefined && isMissing?.(message) === true) {
      violations.add(field.name, 'REQUIRED', 'is required')
      continue
    }
    if (inner === undefined) continue
    const value = getField(message, field)
    if (field === update?.resource) into(field, inner, value, written, violations)
    else into(field, inner, value, below, violations)
  }
}

const NONE: readonly string[] = []

const into = (
  field: DescField,
  inner: Plan,
  value: unknown,
  tree: MaskTree | undefined,
  violations: Violations,
): void => {
  if (value === undefined) {
    // If the mask names a field inside an unset message, the update clears that field.
    if (tree === undefined || field.fieldKind !== 'message') return
    return step(field.name, inner, create(inner.desc), tree, violations)
  }
  if (field.fieldKind === 'message') return step(field.name, inner, value as Message, tree, violations)
  if (field.fieldKind === 'list') {
    const below = tree && inElement(tree, '*')
    for (const [index, one] of (value as readonly Message[]).entries()) {
      step(`${field.name}[${index}]`, inner, one, below, violations)
      if (violations.isFull) return
    }
    return
  }
  for (const [key, one] of Object.entries(value as Readonly<Record<string, Message>>)) {
    step(`${field.name}${entryKey(field, key)}`, inner, one, tree && inElement(tree, key), violations)
    if (violations.isFull) return
  }
}

const step = (
  name: string,
  inner: Plan,
  message: Message,
  tree: MaskTree | undefined,
  violations: Violations,
): void => {
  violations.enter(name)
  walk(inner, message, tree, violations, NONE)
  violations.leave()
}

/** Returns the fields that an update's mask writes; undefined for the whole resource. */
const writtenBy = (
  update: Update,
  request: Message,
  violations: Violations,
  ignoredMask: readonly string[],
): MaskTree | undefined => {
  const paths = update.mask(request)
  checkMaskPaths('update_mask', paths)
  const { paths: written, touchOnly } = maskToWrite(paths, ignoredMask)
  if (touchOnly || resourceOf(update, request) === undefined) return NOTHING
  for (const path of written) {
    const why = update.locked(path)
    if (why !== undefined) violations.add('update_mask', why.reason, `${path} cannot be written: ${why.text}`)
    if (violations.isFull) break
  }
  return maskTree(written)
}

const NOTHING: MaskTree = new Map()
