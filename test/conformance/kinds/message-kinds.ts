import type { JsonObject } from '@bufbuild/protobuf'

/** What a message can hold, as a row of the table of kinds and protocols. */
export interface MessageKind {
  readonly name: string
  /** The fields of two resources that differ in this kind alone. */
  readonly values: readonly [JsonObject, JsonObject]
  /** Other fields of the response; undefined for one that it must not have. */
  readonly without?: readonly string[]
  /** The names of its fields in masks. */
  readonly mask: string
  /** Finds the first resource and not the second one, or the error that says why there is no such filter. */
  readonly filter: readonly [filter: string, error?: RegExp]
  /** A sort order in which the first comes before the second; or the error. */
  readonly order: readonly [orderBy: string, error?: RegExp]
  /** An update mask into the field of the first resource with the second's values, and the result. */
  readonly into: readonly [mask: string, result: JsonObject | RegExp]
  /** A read mask into the field, and what it leaves of the first resource. */
  readonly part?: readonly [mask: string, left: JsonObject]
  /** What a create rejects, by its type or by a rule of `buf.validate`. */
  readonly wrong?: readonly (readonly [JsonObject, RegExp])[]
}

const NO_PART = /update_mask/
const NO_ORDER = /order_by|orderBy/

const DE = { id: 'de', title: 'Germany' }
const ULM = {
  city: 'Ulm',
  zip: '',
  floor: '3',
  home: { id: 'de', title: 'Germany' },
  geo: { lat: 48.4, placed: '2026-01-31T10:00:00Z' },
}
const FR = { id: 'fr', title: 'France' }

/** A member of the oneof, which every resource has to set. */
const member = (
  name: string,
  [first, second]: readonly [unknown, unknown],
  filter: MessageKind['filter'],
  order: MessageKind['order'],
  more: Partial<MessageKind> = {},
): MessageKind => ({
  name: `a oneof's ${name}`,
  values: [{ [name]: first } as JsonObject, { [name]: second } as JsonObject],
  without: ['email', 'seats', 'phase', 'due', 'place', 'nick', 'extra'].filter((one) => one !== name),
  mask: name,
  filter,
  order,
  into: [`${name}.title`, NO_PART],
  ...more,
})

const plain = (
  name: string,
  values: readonly [unknown, unknown],
  filter: string | MessageKind['filter'],
  more: Partial<MessageKind> = {},
): MessageKind => ({
  name,
  values: values.map((value) => ({ email: 'e', [name]: value }) as JsonObject) as never,
  mask: name,
  filter: typeof filter === 'string' ? [filter] : filter,
  order: [`${name}, id`],
  into: [`${name}.a`, NO_PART],
  ...more,
})

export const MESSAGE_KINDS: readonly MessageKind[] = [
  member('email', ['a', 'b'], ['email = "a"'], ['email'], {
    wrong: [
      [{ email: 'x'.repeat(21) }, /email/],
      [{ title: 'none' }, /contact/],
    ],
  }),
  member('seats', ['0', '7'], ['seats < 1'], ['seats'], { wrong: [[{ seats: '-1' }, /seats/]] }),
  member('phase', ['ACTIVE', 'CLOSED'], ['phase = ACTIVE'], ['phase']),
  member('due', ['2026-01-31T10:00:00Z', '2026-01-31T10:00:01Z'], ['due < "2026-01-31T10:00:01Z"'], ['due']),
  member('place', [DE, FR], ['place.id = "de"'], ['place', NO_ORDER], {
    part: ['place.title', { place: { title: 'Germany' } }],
  }),
  member('nick', ['', 'n'], ['nick = ""'], ['nick']),
  member('extra', [{ a: 1, b: 'x' }, { a: 2 }], ['extra.a = 1'], ['extra', NO_ORDER], {
    into: ['extra.a', { extra: { a: 2, b: 'x' } }],
    part: ['extra.a', { extra: { a: 1 } }],
  }),
  plain('ready', [false, true], 'ready = false'),
  plain('ratio', [0, 0.1], 'ratio < 0.1', { wrong: [[{ ratio: 11 }, /ratio/]] }),
  plain('rank', [0, 5], 'rank = 0', { wrong: [[{ rank: -1 }, /rank/]] }),
  plain('note', ['', 'n'], 'note = ""'),
  plain('state', ['PHASE_UNSPECIFIED', 'ACTIVE'], 'state = PHASE_UNSPECIFIED', { order: ['state desc'] }),
  plain('blob', ['AAE=', 'AAI='], ['blob = "x"', /blob/]),
  plain('wait', ['-1.500s', '2s'], 'wait < "0s"'),
  plain('count', ['0', '9223372036854775807'], 'count = 0'),
  plain('home', [DE, FR], 'home.title = "Germany"', {
    order: ['home', NO_ORDER],
    part: ['home.id', { home: { id: 'de' } }],
  }),
  plain('names', [['a', 'b'], []], 'names:"b"', {
    order: ['names', NO_ORDER],
    wrong: [[{ names: ['a', 'a'] }, /names/]],
  }),
  plain('phases', [['ACTIVE', 'PHASE_UNSPECIFIED'], []], 'phases:ACTIVE', {
    order: ['phases', NO_ORDER],
    wrong: [[{ phases: ['ACTIVE', 'ACTIVE', 'ACTIVE', 'ACTIVE'] }, /phases/]],
  }),
  plain('places', [[DE, FR], [FR]], ['places.id = "de"', /places/], { order: ['places', NO_ORDER] }),
  plain('labels', [{ a: 'x' }, {}], 'labels.a = "x"', {
    order: ['labels', NO_ORDER],
    wrong: [[{ labels: { a: '', b: '', c: '' } }, /labels/]],
  }),
  plain('numbered', [{ '-3': DE, '7': FR }, {}], ['numbered:"7"', /numbered/], {
    order: ['numbered', NO_ORDER],
    wrong: [[{ numbered: { '1': DE, '2': DE, '3': DE } }, /numbered/]],
  }),
  plain('flagged', [{ true: '1', false: '-9223372036854775808' }, {}], ['flagged:"true"', /flagged/], {
    order: ['flagged', NO_ORDER],
  }),
  plain('wide', [{ '18446744073709551615': 0.5 }, {}], ['wide:"1"', /wide/], {
    order: ['wide', NO_ORDER],
  }),
  plain('address', [ULM, { city: 'Bonn', floor: '1' }], 'address.city = "Ulm"', {
    order: ['address.floor desc'],
    into: ['address.city', { address: { ...ULM, city: 'Bonn' } }],
    part: ['address.geo.lat', { address: { geo: { lat: 48.4 } } }],
    wrong: [[{ address: { city: 'x'.repeat(41) } }, /address\.city/]],
  }),
  plain('billing', [ULM, { city: 'Bonn', floor: '1' }], 'billing.geo.lat > 48', {
    order: ['billing.geo.lat'],
    into: ['billing.geo', { billing: { city: 'Ulm', zip: '', floor: '3', home: DE } }],
  }),
  plain(
    'settings',
    [{ theme: 'dark', deep: { a: [1, null] } }, { theme: 'light' }],
    'settings.theme = "dark"',
    {
      order: ['settings', NO_ORDER],
      into: ['settings.theme', { settings: { theme: 'light', deep: { a: [1, null] } } }],
      part: ['settings.deep.a', { settings: { deep: { a: [1, null] } } }],
    },
  ),
]
