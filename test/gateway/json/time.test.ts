import { create } from '@bufbuild/protobuf'
import { TimestampSchema } from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { writeTimestamp } from '../../../lib/gateway/json/time.js'

const DAY = 86_400
/** The first and the last second that RFC 3339 and the mapping can say. */
const [FIRST, LAST] = [-62_135_596_800, 253_402_300_799]

const written = (seconds: number): string =>
  writeTimestamp(create(TimestampSchema, { seconds: BigInt(seconds) }))

/** The platform's own calendar. */
const expected = (seconds: number): string => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')

describe('writeTimestamp', () => {
  for (const [name, from, to, step] of [
    ['every day of 400 years, after which the calendar repeats', -5_364_662_400, 7_258_118_400, DAY],
    ['days of all years from 1 to 9999', FIRST, LAST, 59 * DAY],
  ] as const)
    it(`knows ${name}`, () => {
      for (let seconds = from; seconds <= to; seconds += step) {
        const text = written(seconds)
        if (text !== expected(seconds)) expect(text).to.equal(expected(seconds))
      }
    })

  it('knows every second of a day, before and after 1970', () => {
    for (const day of [-1, 0, 19_000])
      for (let seconds = day * DAY; seconds < (day + 1) * DAY; seconds++) {
        const text = written(seconds)
        if (text !== expected(seconds)) expect(text).to.equal(expected(seconds))
      }
  })

  for (const [name, seconds, text] of [
    ['the first second', FIRST, '0001-01-01T00:00:00Z'],
    ['the last second', LAST, '9999-12-31T23:59:59Z'],
    ['a leap day of a century', 951_782_400, '2000-02-29T00:00:00Z'],
    ['the day behind a February without one', -2_203_891_200, '1900-03-01T00:00:00Z'],
  ] as const)
    it(`says ${name}`, () => {
      expect(written(seconds)).to.equal(text)
    })
})
