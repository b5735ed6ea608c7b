import { expect } from 'chai'
import { isFollowed, subjectFilter, subjectOf, subjectToken } from '../../../lib/events/nats/event-subject.js'

describe('a token of a subject', () => {
  for (const [text, token] of [
    ['acme-1_X', 'acme-1_X'],
    ['', '_'],
    ['_', '=5F'],
    ['__', '__'],
    ['a.b', 'a=2Eb'],
    ['*', '=2A'],
    ['>', '=3E'],
    ['=2A', '=3D2A'],
    ['é', '=C3=A9'],
    ['a b\n', 'a=20b=0A'],
    ['\0', '=00'],
  ] as const)
    it(`is ${token} for ${JSON.stringify(text)}`, () => expect(subjectToken(text)).to.equal(token))

  it('is another one for each text, and can be sent', () => {
    const texts = [
      ...[
        '',
        '_',
        '__',
        '=5F',
        '.',
        '..',
        '*',
        '>',
        'a.b',
        'a',
        'b',
        'a=2Eb',
        'A',
        'é',
        'e\u0301',
        '\ud800',
        '\ud801',
        '\ufffd',
      ],
      ...['x'.repeat(400), 'x'.repeat(401), 'x'.repeat(402), '*'.repeat(200), '*'.repeat(201), '==', ' '],
    ]
    const tokens = texts.map(subjectToken)
    expect(new Set(tokens).size).to.equal(texts.length)
    for (const token of tokens) expect(token).to.match(/^[A-Za-z0-9_=-]{1,400}$/)
  })

  it('makes the subject of an event, and the filter of those who follow it', () => {
    expect(subjectOf('events', { tenant: 'a.b', resource: 'order', verb: 'paid' })).to.equal(
      'events.a=2Eb.order.paid',
    )
    expect(subjectFilter('events', {})).to.equal('events.*.*.*')
    expect(subjectFilter('events', { tenant: '*', verb: 'paid' })).to.equal('events.=2A.*.paid')
    expect(subjectFilter('events', { tenant: '' })).to.equal('events._.*.*')
  })

  it('lets nobody follow another tenant, whatever tenants are called', () => {
    const names = ['a.b', '*', '>', 'é', '', '_', 'a', 'b']
    for (const tenant of names)
      for (const other of names)
        expect(isFollowed({ tenant }, { tenant: other, resource: 'order', verb: 'paid' })).to.equal(
          tenant === other,
        )
  })
})
