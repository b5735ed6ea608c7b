import { status } from '@grpc/grpc-js'

const { OK, INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS } = status

/** A call of tenant acme, over gRPC; over HTTP, where a path can say it. */
export interface Row {
  readonly title: string
  readonly method: string
  readonly request: object
  readonly http?: readonly [method: string, path: string, body?: object]
  readonly code: status
  /** The names that come back. */
  readonly names?: readonly string[]
  /** In the error. */
  readonly says?: string
}

export const PATTERN = 'publishers/{publisher}/series/{series}/editions/{edition}'
export const PARENT = 'publishers/{publisher}/series/{series}'
export const named = (publisher: string, series: string, edition: string): string =>
  `publishers/${publisher}/series/${series}/editions/${edition}`
const A = named('p1', 's1', 'a')
const B = named('p1', 's1', 'b')
const C = named('p1', 's2', 'c')
const D = named('p2', 's1', 'd')

const get = (title: string, name: string, code: status, says?: string): Row => ({
  title,
  method: 'GetEdition',
  request: { name },
  code,
  ...(code === OK ? { names: [A] } : {}),
  ...(says === undefined ? {} : { says }),
})

const LONG = 'x'.repeat(10_000)

/** Reads, which change nothing. */
export const READS: readonly Row[] = [
  { ...get('a name', A, OK), http: ['GET', `/v1/${A}`] },
  {
    ...get('a name under any parent', named('-', '-', 'a'), OK),
    http: ['GET', `/v1/${named('-', '-', 'a')}`],
  },
  get('a name of which one parent is any', named('p1', '-', 'a'), OK),
  { ...get('an escaped letter', A, OK), http: ['GET', `/v1/publishers/p%31/series/s1/editions/%61`] },
  {
    ...get('a missing id', named('p1', 's1', 'none'), NOT_FOUND),
    http: ['GET', `/v1/${named('p1', 's1', 'none')}`],
  },
  {
    ...get('another publisher', named('p2', 's1', 'a'), NOT_FOUND),
    http: ['GET', `/v1/${named('p2', 's1', 'a')}`],
  },
  get('another series', named('p1', 's2', 'a'), NOT_FOUND),
  get('a publisher that is nowhere', named('p9', 's1', 'a'), NOT_FOUND),
  get("another tenant's", named('p1', 's1', 'x'), NOT_FOUND),
  get("another tenant's under any parent", named('-', '-', 'x'), NOT_FOUND),
  get('a deleted one', named('p1', 's1', 'gone'), NOT_FOUND),
  get('another case', named('P1', 's1', 'a'), NOT_FOUND),
  get('a trailing space', `${A} `, NOT_FOUND),
  get('a NUL in the id', `${A}\0`, NOT_FOUND),
  get('a NUL in the parent', named('p1\0', 's1', 'a'), NOT_FOUND),
  get('10,000 characters', named('p1', 's1', LONG), NOT_FOUND),
  get('a parent of 10,000 characters', named(LONG, 's1', 'a'), NOT_FOUND),
  get('quotes', named('p1" OR publisher_id = "p2', 's1', 'd'), NOT_FOUND),
  get('an escaped slash', 'publishers/p1/series/s1%2Feditions/a', INVALID_ARGUMENT, PATTERN),
  {
    ...get('an escaped slash in a part', named('p1', 's1', '..%2Fa'), NOT_FOUND),
    http: ['GET', `/v1/${named('p1', 's1', '..%252Fa')}`],
  },
  get('dot segments', named('p1', '..', 'a'), NOT_FOUND),
  get('no name', '', INVALID_ARGUMENT, 'name'),
  get('a key alone', 'a', INVALID_ARGUMENT, PATTERN),
  get('a name of a parent', 'publishers/p1/series/s1', INVALID_ARGUMENT, PATTERN),
  get('a name of something inside', `${A}/pages/1`, INVALID_ARGUMENT, PATTERN),
  get('another collection', 'publishers/p1/series/s1/books/a', INVALID_ARGUMENT, PATTERN),
  get('an empty segment', named('', 's1', 'a'), INVALID_ARGUMENT, PATTERN),
  get('an empty id', named('p1', 's1', ''), INVALID_ARGUMENT, PATTERN),
  get('a leading slash', `/${A}`, INVALID_ARGUMENT, PATTERN),
  get('a trailing slash', `${A}/`, INVALID_ARGUMENT, PATTERN),
  get('any id', named('p1', 's1', '-'), INVALID_ARGUMENT, PATTERN),
  get('a full resource name', `//editions.example.com/${A}`, INVALID_ARGUMENT, PATTERN),
  get('10,000 segments', 'publishers/p1/'.repeat(5000), INVALID_ARGUMENT, PATTERN),
  ...(
    [
      ['one parent', 'publishers/p1/series/s1', [A, B]],
      ['any series', 'publishers/p1/series/-', [A, B, C]],
      ['any publisher', 'publishers/-/series/s1', [A, B, D]],
      ['any parent', 'publishers/-/series/-', [A, B, C, D]],
      ['a parent that is nowhere', 'publishers/p9/series/s1', []],
      ['a parent of 10,000 characters', `publishers/${LONG}/series/s1`, []],
      ['a parent with a NUL', 'publishers/p1\0/series/s1', []],
      ['a parent with quotes', 'publishers/p1"/series/s1" OR series_id = "s2', []],
    ] as const
  ).map(([title, parent, names]): Row => ({
    title: `a list under ${title}`,
    method: 'ListEditions',
    request: { parent },
    ...(/^[ -~]{1,99}$/.test(parent) && { http: ['GET', `/v1/${encodeURI(parent)}/editions`] as const }),
    code: OK,
    names,
  })),
  ...['', 'publishers/p1', 'publishers/p1/series/', 'publishers/p1/series/s1/editions', '-', A].map(
    (parent): Row => ({
      title: `a list under ${JSON.stringify(parent)}`,
      method: 'ListEditions',
      request: { parent },
      code: INVALID_ARGUMENT,
      says: parent === '' ? 'parent' : PARENT,
    }),
  ),
  ...(
    [
      ['in their order', 'publishers/-/series/-', [D, A], OK],
      ['under one parent', 'publishers/p1/series/s1', [B, A, B], OK],
      ['without a parent', '', [C], OK],
      ['of which one is elsewhere', 'publishers/p1/series/s1', [A, C], NOT_FOUND],
      ['of which one has another parent', '', [A, named('p2', 's1', 'b')], NOT_FOUND],
      ["of which one is another tenant's", '', [A, named('p1', 's1', 'x')], NOT_FOUND],
      ['of which one is deleted', '', [A, named('p1', 's1', 'gone')], NOT_FOUND],
      ['of which one is none', '', [A, 'a'], INVALID_ARGUMENT],
      ['under a parent that is none', 'publishers', [A], INVALID_ARGUMENT],
    ] as const
  ).map(([title, parent, names, code]): Row => ({
    title: `names ${title}`,
    method: 'BatchGetEditions',
    request: { parent, names },
    code,
    ...(code === OK ? { names } : {}),
    ...(title === 'of which one is none' ? { says: 'names[1]' } : {}),
  })),
  {
    title: 'names under any parent',
    method: 'BatchGetEditions',
    request: { names: [named('-', '-', 'd'), named('p1', '-', 'a')] },
    code: OK,
    names: [D, A],
  },
]

const update = (title: string, name: string, code: status, says?: string): Row => ({
  title: `an update of ${title}`,
  method: 'UpdateEdition',
  request: { edition: { name, pages: 7 }, update_mask: { paths: ['pages'] } },
  code,
  ...(code === OK ? { names: [name] } : {}),
  ...(says === undefined ? {} : { says }),
})

const create = (title: string, parent: string, id: string, code: status, says?: string): Row => ({
  title: `a create of ${title}`,
  method: 'CreateEdition',
  request: { parent, edition: { title: 'new' }, edition_id: id },
  code,
  ...(code === OK ? { names: [`${parent}/editions/${id}`] } : {}),
  ...(says === undefined ? {} : { says }),
})

const P1 = 'publishers/p1/series/s1'

/** Writes that are refused, and leave every row as it was. */
export const REFUSED: readonly Row[] = [
  update('another parent', named('p2', 's1', 'a'), NOT_FOUND),
  update("another tenant's", named('p1', 's1', 'x'), NOT_FOUND),
  update('a deleted one', named('p1', 's1', 'gone'), NOT_FOUND),
  update('any parent', named('-', 's1', 'a'), INVALID_ARGUMENT, '"-" stands for any publisher'),
  update('what is no name', 'a', INVALID_ARGUMENT, PATTERN),
  update('nothing', '', INVALID_ARGUMENT, 'edition.name'),
  {
    title: 'an update over HTTP of another parent',
    method: 'UpdateEdition',
    request: { edition: { name: named('p2', 's1', 'a'), pages: 7 }, update_mask: { paths: ['pages'] } },
    http: ['PATCH', `/v1/${named('p2', 's1', 'a')}?update_mask=pages`, { pages: 7 }],
    code: NOT_FOUND,
  },
  ...['name', 'series_id', 'publisher_id', 'id'].map((path): Row => ({
    title: `an update of ${path}`,
    method: 'UpdateEdition',
    request: { edition: { name: A, series_id: 's2' }, update_mask: { paths: [path] } },
    code: INVALID_ARGUMENT,
    says: 'update_mask',
  })),
  ...(
    [
      ['DeleteEdition', named('p1', 's2', 'a'), NOT_FOUND],
      ['DeleteEdition', named('p1', 's1', 'x'), NOT_FOUND],
      ['DeleteEdition', named('-', '-', 'a'), INVALID_ARGUMENT],
      ['DeleteEdition', 'publishers/p1', INVALID_ARGUMENT],
      ['UndeleteEdition', named('p1', 's2', 'gone'), NOT_FOUND],
      ['UndeleteEdition', A, NOT_FOUND],
      ['UndeleteEdition', named('-', 's1', 'gone'), INVALID_ARGUMENT],
    ] as const
  ).map(([method, name, code]): Row => ({ title: `${method} of ${name}`, method, request: { name }, code })),
  ...(
    [
      [[A, named('p2', 's1', 'b')], NOT_FOUND],
      [[A, A], INVALID_ARGUMENT],
      [[A, named('p2', 's1', 'a')], NOT_FOUND],
      [[named('p1', '-', 'a')], INVALID_ARGUMENT],
      [[A, 'b'], INVALID_ARGUMENT],
    ] as const
  ).map(([names, code]): Row => ({
    title: `a batch delete of ${names.join(' and ')}`,
    method: 'BatchDeleteEditions',
    request: { names },
    code,
  })),
  {
    title: 'a batch delete under another parent',
    method: 'BatchDeleteEditions',
    request: { parent: 'publishers/p1/series/s2', names: [A] },
    code: NOT_FOUND,
  },
  {
    title: 'a batch update of which one has another parent',
    method: 'BatchUpdateEditions',
    request: {
      requests: [A, named('p1', 's2', 'b')].map((name) => ({
        edition: { name, pages: 7 },
        update_mask: { paths: ['pages'] },
      })),
    },
    code: NOT_FOUND,
  },
  {
    title: 'a batch update of which one is no name',
    method: 'BatchUpdateEditions',
    request: { requests: [{ edition: { name: A } }, { edition: { name: 'b' } }] },
    code: INVALID_ARGUMENT,
    says: 'requests[1].edition.name',
  },
  create('a taken id', P1, 'a', ALREADY_EXISTS),
  create('an id that is taken under another parent', P1, 'c', ALREADY_EXISTS),
  create('an id that a deleted one has', P1, 'gone', ALREADY_EXISTS),
  create(
    'an id under any parent',
    'publishers/-/series/s1',
    'n',
    INVALID_ARGUMENT,
    '"-" stands for any publisher',
  ),
  create('an id under no parent', '', 'n', INVALID_ARGUMENT, 'parent'),
  create('an id under what is no parent', 'publishers/p1', 'n', INVALID_ARGUMENT, PARENT),
  create(
    'an id under a parent with a NUL',
    'publishers/p1\0/series/s1',
    'n',
    INVALID_ARGUMENT,
    'publisher_id',
  ),
  create(
    'an id under a parent with a dot segment',
    'publishers/../series/s1',
    'n',
    INVALID_ARGUMENT,
    'publisher_id',
  ),
  create('an id under a long parent', `publishers/${LONG}/series/s1`, 'n', INVALID_ARGUMENT, 'publisher_id'),
  ...['A', '1a', 'a_b', 'a-', '-', 'a/b', 'é', 'a'.repeat(64), '..', ' a', 'a\0', A].map((id) =>
    create(`the id ${JSON.stringify(id.slice(0, 70))}`, P1, id, INVALID_ARGUMENT, 'edition_id'),
  ),
  {
    title: 'a create whose resource says another parent',
    method: 'CreateEdition',
    request: { parent: P1, edition: { title: 'new', series_id: 's2' }, edition_id: 'n' },
    code: INVALID_ARGUMENT,
    says: 'series_id',
  },
]

/** Writes that are carried out, in their order. */
export const WRITES: readonly Row[] = [
  update('a name', A, OK),
  {
    title: 'an update over HTTP',
    method: 'UpdateEdition',
    request: { edition: { name: A, pages: 8 }, update_mask: { paths: ['pages'] } },
    http: ['PATCH', `/v1/${A}?update_mask=pages`, { pages: 8 }],
    code: OK,
    names: [A],
  },
  {
    title: 'a full update, which leaves the name as it is',
    method: 'UpdateEdition',
    request: { edition: { name: A, title: 'full', series_id: 's9' }, update_mask: { paths: ['*'] } },
    code: OK,
    names: [A],
  },
  create('an id', P1, 'n', OK),
  create('an id of another tenant', P1, 'x', OK),
  create('the longest id', P1, `a${'0'.repeat(62)}`, OK),
  {
    title: 'a create, whose name is that of the server',
    method: 'CreateEdition',
    request: { parent: P1, edition: { name: named('p9', 's9', 'z'), title: 'new' }, edition_id: 'm' },
    code: OK,
    names: [named('p1', 's1', 'm')],
  },
  {
    title: 'a batch update under any parent',
    method: 'BatchUpdateEditions',
    request: {
      parent: 'publishers/-/series/-',
      requests: [D, A].map((name) => ({ edition: { name, pages: 5 }, update_mask: { paths: ['pages'] } })),
    },
    code: OK,
    names: [D, A],
  },
  { title: 'a delete', method: 'DeleteEdition', request: { name: D }, code: OK },
  { title: 'an undelete', method: 'UndeleteEdition', request: { name: D }, code: OK, names: [D] },
  {
    title: 'a batch delete',
    method: 'BatchDeleteEditions',
    request: { parent: 'publishers/p1/series/-', names: [A, C] },
    code: OK,
  },
]
