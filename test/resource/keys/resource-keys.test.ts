import { expect } from 'chai'
import fc from 'fast-check'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource } from '../../../decorators/index.js'
import { type ResourceKeys, resourceKeys } from '../../../lib/resource/keys/resource-keys.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { drill } from '../../support/drill.js'

@Resource({ shared: true })
@Entity('key_forms')
class KeyForms {
  @PrimaryColumn({ length: 40 }) id!: string
}

@Resource({ shared: true })
@Entity('uuid_forms')
class UuidForms {
  @PrimaryColumn('uuid') id!: string
}

@Resource({ shared: true })
@Entity('int_forms')
class IntForms {
  @PrimaryColumn('int') id!: number
  @Column() label!: string
}

@Resource({ shared: true })
@Entity('small_forms')
class SmallForms {
  @PrimaryColumn('smallint') id!: number
}

@Resource({ shared: true })
@Entity('wide_forms')
class WideForms {
  @PrimaryColumn('bigint') id!: bigint
}

@Resource({ shared: true })
@Entity('digit_forms')
class DigitForms {
  @PrimaryColumn('bigint') id!: string
}

const UUID = '0189f7ea-ae2c-7809-8aeb-b819cf5e9e7f'
const keysOf = (entity: new () => object): ResourceKeys => resourceModel(entity).keys
const fieldOf = (entity: new () => object, property: string, name: string) => ({
  ...resourceModel(entity).key,
  property,
  proto: name,
})
const TYPES: Readonly<Record<string, ResourceKeys>> = {
  text: keysOf(KeyForms),
  uuid: keysOf(UuidForms),
  int: keysOf(IntForms),
  smallint: keysOf(SmallForms),
  bigint: keysOf(WideForms),
  digits: keysOf(DigitForms),
}
/** An invoice, a line of it, and a letter. */
const several = resourceKeys([
  fieldOf(WideForms, 'invoiceId', 'invoice_id'),
  fieldOf(IntForms, 'line', 'line'),
  fieldOf(KeyForms, 'letter', 'letter'),
])

describe('the keys of a resource', () => {
  const values: readonly (readonly [type: string, text: string, value: unknown])[] = [
    ['text', 'a/b', 'a/b'],
    ['uuid', UUID, UUID],
    ['int', '-7', -7],
    ['int', '0', 0],
    ['smallint', '32767', 32_767],
    ['bigint', '9007199254740993', 9_007_199_254_740_993n],
    ['digits', '9007199254740993', '9007199254740993'],
  ]
  for (const [type, text, value] of values)
    it(`of the type ${type} have one text for one value: ${text}`, () => {
      const { keyOf, textOf, given, isKey, valuesOf } = TYPES[type] as ResourceKeys
      expect(keyOf(text)).to.equal(value)
      expect(valuesOf(text)).to.deep.equal([value])
      expect(textOf({ id: value })).to.equal(text)
      expect(given(value)).to.equal(text)
      expect(given(text)).to.equal(text)
      expect(isKey(text)).to.equal(true)
    })

  const spellings: readonly (readonly [type: string, text: string, meant: string | undefined])[] = [
    ['uuid', UUID.toUpperCase(), UUID],
    ['uuid', `{${UUID}}`, UUID],
    ['uuid', `urn:uuid:${UUID}`, UUID],
    ['uuid', UUID.replaceAll('-', ''), UUID],
    ['uuid', ` ${UUID}`, UUID],
    ['uuid', 'x', undefined],
    ['int', '007', '7'],
    ['int', '+7', '7'],
    ['int', ' 7 ', '7'],
    ['int', '-0', '0'],
    ['int', '7.0', '7'],
    ['int', '7abc', undefined],
    ['int', '1e3', undefined],
    ['int', '\uff17', undefined],
    ['int', '0x7', undefined],
    ['int', '2147483648', undefined],
    ['smallint', '32768', undefined],
    ['bigint', '9223372036854775808', undefined],
    ['digits', '007', '7'],
    ['int', '7'.repeat(300), undefined],
    ['int', '7\0', undefined],
    ['text', 'a\0', undefined],
    ['text', '\ud800', undefined],
  ]
  for (const [type, text, meant] of spellings)
    it(`of the type ${type} are not ${JSON.stringify(text.slice(0, 50))}`, () => {
      const keys = TYPES[type] as ResourceKeys
      expect(keys.isKey(text)).to.equal(false)
      expect(keys.given(text)).to.equal(undefined)
      expect(keys.keyOf(text)).to.equal(undefined)
      expect(keys.meant(text)).to.equal(meant)
    })

  for (const value of [undefined, null, 1.5, NaN, Infinity, {}, [], true, Symbol('7')])
    it(`are not ${String(value)}`, () => {
      for (const keys of [TYPES['int'], TYPES['bigint'], several])
        expect(keys?.given(value)).to.equal(undefined)
    })

  it('of two spellings have at most one', () => {
    const piece = fc.constantFrom('0', '1', '7', '-', '+', ' ', '.', 'e', 'a', 'A', '\uff11', '\0', '\u0660')
    const spelling = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''))
    fc.assert(
      fc.property(spelling, (text) => {
        for (const [type, keys] of Object.entries(TYPES)) {
          const value = keys.keyOf(text)
          if (value !== undefined) expect(keys.textOf({ id: value }), type).to.equal(text)
          const meant = keys.meant(text)
          if (meant !== undefined) expect(keys.isKey(meant), type).to.equal(true)
        }
      }),
      { numRuns: drill(500, 20_000) },
    )
  })

  it('are ordered as numbers, and texts by code point', () => {
    const sorted = (type: string, ...texts: readonly string[]) =>
      [...texts].sort((TYPES[type] as ResourceKeys).compare)
    expect(sorted('int', '10', '9', '-1', '0', '-10')).to.deep.equal(['-10', '-1', '0', '9', '10'])
    expect(sorted('bigint', '9223372036854775807', '9223372036854775806')).to.deep.equal([
      '9223372036854775806',
      '9223372036854775807',
    ])
    expect(sorted('text', '10', '9', 'a', 'B')).to.deep.equal(['10', '9', 'B', 'a'])
  })

  it('of several parts are joined, and an object for code', () => {
    const key = { invoiceId: 12n, line: 3, letter: 'a' }
    expect(several.textOf(key)).to.equal('12/3/a')
    expect(several.keyOf('12/3/a')).to.deep.equal(key)
    expect(several.given(key)).to.equal('12/3/a')
    expect(several.given('12/3/a')).to.equal('12/3/a')
    expect(several.valuesOf('12/3/a')).to.deep.equal([12n, 3, 'a'])
    expect(several.meant('012/3/a')).to.equal('12/3/a')
    for (const text of ['12/3', '12/3/a/b', '12/03/a', '/3/a', '12//a', 'x/3/a'])
      expect(several.given(text), text).to.equal(undefined)
    for (const wrong of [
      { ...key, letter: 'a/b' },
      { ...key, letter: '' },
      { ...key, line: 0.5 },
    ])
      expect(several.given(wrong)).to.equal(undefined)
    expect(['12/10/a', '9/1/a', '12/9/b', '12/9/a'].sort(several.compare)).to.deep.equal([
      '9/1/a',
      '12/9/a',
      '12/9/b',
      '12/10/a',
    ])
  })

  it('have at least one part', () => {
    expect(() => resourceKeys([])).to.throw(TypeError, 'at least one part')
  })
})
