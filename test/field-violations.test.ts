import { expect } from 'chai'
import { fromBinary } from '@bufbuild/protobuf'
import { anyUnpack } from '@bufbuild/protobuf/wkt'
import { toStatusBytes } from '../lib/error-details.js'
import { InvalidArgument } from '../lib/errors.js'
import { BadRequestSchema } from 'ashlar-annotations/google/rpc/error_details_pb.js'
import { StatusSchema } from 'ashlar-annotations/google/rpc/status_pb.js'

describe('InvalidArgument.of', () => {
  const sent = (error: InvalidArgument) =>
    fromBinary(StatusSchema, toStatusBytes(error)).details.flatMap((any) =>
      (anyUnpack(any, BadRequestSchema)?.fieldViolations ?? []).map(({ field, reason, description }) => [
        field,
        reason,
        description,
      ]),
    )

  it('escapes control characters of a field', () => {
    const error = new InvalidArgument('task.labels["a\u0001\u202e"]', 'is not allowed')
    expect(sent(error)).to.deep.equal([['task.labels["a\\u0001\\u202e"]', '', 'is not allowed']])
  })

  it('sends all violations in one BadRequest', () => {
    const error = InvalidArgument.of([
      { field: 'task.title', reason: 'TOO_LONG', description: 'is longer than 10 characters' },
      { field: 'task.size', description: 'has to be even' },
    ])
    expect([error.code, error.field]).to.deep.equal(['INVALID_ARGUMENT', 'task.title'])
    expect(error.message).to.equal('task.title: is longer than 10 characters (and 1 more)')
    expect(sent(error)).to.deep.equal([
      ['task.title', 'TOO_LONG', 'is longer than 10 characters'],
      ['task.size', '', 'has to be even'],
    ])
  })

  it('writes a reason as AIP-193 wants it', () => {
    const reasons = ['string.min_len', 'too long!', '_x', 'a'.repeat(80)]
    const error = InvalidArgument.of(
      reasons.map((reason) => ({ field: 'a', reason, description: 'is wrong' })),
    )
    expect(sent(error).map(([, reason]) => reason)).to.deep.equal([
      'STRING_MIN_LEN',
      'TOO_LONG',
      'X',
      'A'.repeat(63),
    ])
  })

  it('sends at most 100, and of long ones less', () => {
    const many = (text: string) => Array.from({ length: 1000 }, () => ({ field: text, description: text }))
    expect(sent(InvalidArgument.of(many('a'))).length).to.equal(100)
    const long = InvalidArgument.of(many('\ud83d\ude00'.repeat(10_000)))
    expect(sent(long).length).to.equal(1)
    expect(toStatusBytes(long).length).to.be.below(8192)
  })

  it('needs at least one', () => {
    expect(() => InvalidArgument.of([])).to.throw(TypeError, 'at least one')
  })
})
