import type { DescEnum, DescField, DescMessage } from '@bufbuild/protobuf'
import { behaves, holdsField, isSetByServer } from '../../resource/behavior/field-behavior.js'
import { readableOf } from '../../resource/messages/read-mask-target.js'
import { fieldNamed, maskReader } from '../../resource/messages/field-readers.js'
import type { OpenApiSource } from '../source/source.js'
import { UniqueNames } from './unique-names.js'

/**
 * The use of a message. `output`: in a response. `masked`: in a response from which a read mask may have
 * removed fields. `input`: in a request. `patch`: in an update request, whose mask selects the fields.
 */
export type View = 'output' | 'masked' | 'input' | 'patch'

/** Determines which view of a message each place in the document uses. */
export class Views {
  /** Lists whose items a read mask may have reduced. */
  readonly #maskedItems = new Set<DescField>()
  readonly #returned = new Set<DescMessage>()
  readonly #requests = new Set<DescMessage>()
  /** True if a request must contain a field of the message, at any depth. */
  readonly #needs = new Map<DescMessage, boolean>()
  readonly #source: OpenApiSource
  readonly #names: UniqueNames

  constructor(source: OpenApiSource) {
    this.#source = source
    for (const { methods } of source.services)
      for (const { input, output } of methods) {
        this.#requests.add(input)
        reach(output, this.#returned)
        const { items } = readableOf(output)
        if (items !== undefined && maskReader(input, 'read_mask') !== undefined) this.#maskedItems.add(items)
      }
    const sent = new Set(this.#returned)
    for (const input of this.#requests) reach(input, sent)
    const enums = [...sent].flatMap(({ fields }) => fields.flatMap((field) => field.enum ?? []))
    this.#names = new UniqueNames([...sent, ...enums].map(({ typeName }) => typeName))
  }

  /** Returns the schema name of a message or an enum. */
  nameOf({ typeName }: DescMessage | DescEnum, view: View): string {
    const name = this.#names.of(typeName)
    return view === 'output' ? name : this.#names.of(`${name}-${view}`)
  }

  /** Returns the view to describe. If no field is required, the view `patch` is the same as `input`. */
  reduced(desc: DescMessage, view: View, isRequired: (field: DescField) => boolean): View {
    if (view !== 'patch') return view
    let needs = this.#needs.get(desc)
    if (needs === undefined) this.#needs.set(desc, (needs = holdsField(desc, isRequired)))
    return needs ? 'patch' : 'input'
  }

  /** Returns true if the schema of a request needs no suffix, because no method returns the message. */
  isRequestOnly(desc: DescMessage): boolean {
    return this.#requests.has(desc) && !this.#returned.has(desc)
  }

  /** Returns the view of the messages in a field. */
  below(field: DescField, view: View): View {
    if (view === 'input' && isResourceOfUpdate(field)) return 'patch'
    return view === 'output' && this.#maskedItems.has(field) ? 'masked' : view
  }

  /** Returns true if a request may have to contain the field. */
  isDemanded(field: DescField): boolean {
    if (isSetByServer(field)) return false
    return behaves(field, 'REQUIRED') || this.#source.rulesOf(field) !== undefined
  }
}

function reach(desc: DescMessage, found: Set<DescMessage>): void {
  if (found.has(desc)) return
  found.add(desc)
  for (const { message } of desc.fields) if (message !== undefined) reach(message, found)
}

/** Returns true for a message next to an `update_mask`, as in an update request. */
export const isResourceOfUpdate = (field: DescField): boolean =>
  field.fieldKind === 'message' &&
  !field.message.typeName.startsWith('google.protobuf.') &&
  fieldNamed(field.parent, 'update_mask') !== undefined
