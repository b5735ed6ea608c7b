import { expect } from 'chai'
import { equals, fromBinary, type Message, toBinary } from '@bufbuild/protobuf'
import { fromText } from '@bufbuild/protobuf/txtpb'
import { InvalidArgument } from '../../../lib/errors.js'
import { invalidAt } from '../../../lib/gateway/json/fault.js'
import { parseJson } from '../../../lib/gateway/json/parse.js'
import { messageReader } from '../../../lib/gateway/json/reader.js'
import { messageWriter } from '../../../lib/gateway/json/writer.js'
import { registryOf } from '../../../lib/gateway/json/type-registry.js'
import { type AllTypes, AllTypesSchema, TypesService } from '../../support/gen/jsontypes_pb.js'
import { vectors } from '../../support/values/vectors.js'

interface Row {
  readonly id: string
  readonly name: string
  readonly level: 'REQUIRED' | 'RECOMMENDED'
  readonly kind: string
  readonly json?: string
  readonly json_expr?: string
  readonly text_proto?: string | null
  readonly expected_text_proto?: string
  readonly output_check?: string
}

const WRITTEN_AS_IT_IS =
  'asks that a mask path without a reversible JSON form fails; it is written as it is, because it must not fail a whole response'

/** Rows that do not hold, and why. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  pj010: 'is about an extension of proto2, and the row has no JSON',
  pj040:
    'REQUIRED, yet asks the opposite of pj009, which is REQUIRED too and holds: the gateway writes zero values',
  pj328: WRITTEN_AS_IT_IS,
  pj329: WRITTEN_AS_IT_IS,
  pj330: WRITTEN_AS_IT_IS,
  pj346: 'asks that a zero NullValue is left out; the gateway writes zero values',
}

const registry = registryOf(TypesService.methods)
const read = messageReader(AllTypesSchema)
const write = messageWriter(AllTypesSchema)

describe('proto3 JSON conformance vectors', () => {
  const rows = vectors<Row>('proto3-json-conformance')
  if (rows === undefined) {
    it('are held', function () {
      this.skip()
    })
    return
  }
  for (const row of rows) {
    const why = EXCEPTIONS[row.id]
    if (why === undefined) it(`${row.id} ${row.level} ${row.name}`, () => check(row))
    else
      it(`${row.id} ${row.level} ${row.name} does not hold: ${why}`, () =>
        expect(() => check(row)).to.throw())
  }
  it('hold in every REQUIRED row but one and in at least 95 of 100 RECOMMENDED ones', () => {
    const failing = rows.filter(({ id }) => id in EXCEPTIONS)
    const required = failing.filter(({ level }) => level === 'REQUIRED')
    expect(required.map(({ id }) => id)).to.deep.equal(['pj040'])
    expect(failing.map(({ id }) => id)).to.have.members(Object.keys(EXCEPTIONS))
    const of = (level: string, among: readonly Row[]): number =>
      among.filter((row) => row.level === level).length
    const unintended = failing.filter(({ id }) => EXCEPTIONS[id] !== WRITTEN_AS_IT_IS)
    expect(unintended.length).to.equal(failing.length - ['pj328', 'pj329', 'pj330'].length)
    expect(of('RECOMMENDED', unintended) / of('RECOMMENDED', rows)).to.be.below(0.05)
  })
})

function check(row: Row): void {
  switch (row.kind) {
    case 'valid':
      return checkValid(row, false)
    case 'valid_ignoring_unknown':
      return checkValid(row, true)
    case 'parse_failure':
      expect(() => parsed(jsonOf(row))).to.throw(InvalidArgument)
      return
    case 'valid_or_parse_failure':
      expect(() => parsed(jsonOf(row))).to.throw(InvalidArgument)
      return
    case 'serialize_failure':
      expect(() => write(text(row.text_proto ?? ''), { registry })).to.throw(RangeError)
      return
    case 'proto_to_json':
      return checkNaN(row)
    case 'valid_output_checked':
      return checkOutput(row)
    default:
      throw new TypeError(`unknown kind ${row.kind}`)
  }
}

function checkValid(row: Row, ignoreUnknown: boolean): void {
  const wanted = text(row.text_proto ?? '')
  const message = row.json === undefined ? undefined : parsed(row.json, ignoreUnknown)
  if (message !== undefined) expectSame(message, wanted)
  expectSame(parsed(write(wanted, { registry })), wanted)
}

/** Every NaN is written as the same word. */
function checkNaN(row: Row): void {
  const message = text(row.expected_text_proto ?? '')
  const signalling = row.name.includes('Float')
    ? fieldOf(AllTypesSchema.field.optionalFloat.number, 5)
    : fieldOf(AllTypesSchema.field.optionalDouble.number, 1)
  for (const each of [message, fromBinary(AllTypesSchema, signalling)])
    expect(write(each, { registry })).to.match(/"optional(Float|Double)":"NaN"/)
}

/** The bytes of a signalling NaN in a float (wire type 5) or double (1). */
function fieldOf(number: number, wireType: 1 | 5): Uint8Array {
  const value = wireType === 5 ? [0x01, 0x00, 0xa0, 0x7f] : [0x01, 0, 0, 0, 0, 0, 0xf4, 0x7f]
  return Uint8Array.from([...varint((number << 3) | wireType), ...value])
}

const varint = (value: number): readonly number[] =>
  value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)]

/** What the C++ expressions of the vectors say, by row. */
const OUTPUT_CHECKS: Readonly<Record<string, (output: Record<string, unknown>) => void>> = {
  pj009: (output) => expect(output).to.have.property('FieldName13'),
  pj036: (output) => expect(output).to.include.keys('fieldname1', 'fieldName2', 'FieldName3', 'fieldName4'),
  pj037: (output) => expect(output).to.include.keys('field0name5', 'field0Name6'),
  pj038: (output) =>
    expect(output).to.include.keys(
      'fieldName7',
      'FieldName8',
      'fieldName9',
      'FieldName10',
      'FIELDNAME11',
      'FIELDName12',
    ),
  pj039: (output) =>
    expect(output).to.include.keys(
      'FieldName13',
      'FieldName14',
      'fieldName15',
      'fieldName16',
      'fieldName17',
      'FieldName18',
    ),
  pj040: (output) => expect(output).not.to.have.property('FieldName13'),
  pj090: ({ optionalInt64 }) => expect(optionalInt64).to.equal('1'),
  pj091: ({ optionalUint64 }) => expect(optionalUint64).to.equal('1'),
  pj159: ({ optionalNestedEnum }) => expect(optionalNestedEnum).to.equal(123),
  pj267: ({ optionalDuration }) => expect(optionalDuration).to.equal('1s'),
  pj268: ({ optionalDuration }) => expect(optionalDuration).to.equal('1.010s'),
  pj269: ({ optionalDuration }) => expect(optionalDuration).to.equal('1.000010s'),
  pj270: ({ optionalDuration }) => expect(optionalDuration).to.equal('1.000000010s'),
  pj296: ({ optionalTimestamp }) => expect(optionalTimestamp).to.equal('1970-01-01T00:00:00Z'),
  pj297: ({ optionalTimestamp }) => expect(optionalTimestamp).to.equal('1970-01-01T00:00:00Z'),
  pj298: ({ optionalTimestamp }) => expect(optionalTimestamp).to.equal('1970-01-01T00:00:00.010Z'),
  pj299: ({ optionalTimestamp }) => expect(optionalTimestamp).to.equal('1970-01-01T00:00:00.000010Z'),
  pj300: ({ optionalTimestamp }) => expect(optionalTimestamp).to.equal('1970-01-01T00:00:00.000000010Z'),
  pj344: (output) => expect(output).to.have.property('oneofNullValue', null),
  pj345: (output) => expect(output).to.have.property('oneofNullValue', null),
  pj346: (output) => expect(output).not.to.have.property('optionalNullValue'),
}

function checkOutput(row: Row): void {
  const assert = OUTPUT_CHECKS[row.id]
  if (assert === undefined || row.json === undefined) throw new TypeError(`${row.id} has no check`)
  assert(JSON.parse(write(parsed(row.json), { registry })) as Record<string, unknown>)
}

/** The input, also where the vectors give the recipe for it. */
function jsonOf({ json, json_expr: expression = '', name }: Row): string {
  if (json !== undefined) return json
  const levels = 200
  expect(expression).to.include('str').and.include(String(levels))
  if (name === 'ListValueDeepNesting200')
    return `{"optionalValue": ${'['.repeat(levels)}1${']'.repeat(levels)}}`
  const field = name.startsWith('Struct') ? 'optionalStruct' : 'optionalValue'
  return `{"${field}": {${'"n": {'.repeat(levels)}"value": 1${'}'.repeat(levels)}}}`
}

/** Text format, also where the vectors give a C++ expression that repeats a piece 25 times. */
function text(source: string): AllTypes {
  const whole = source.startsWith('absl::StrCat') ? evaluate(source) : source
  return fromText(AllTypesSchema, whole, { registry })
}

function evaluate(expression: string): string {
  const unquote = (strings: string): string =>
    [...strings.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([quoted]) => JSON.parse(quoted) as string).join('')
  const parts = expression.matchAll(/str_repeat\(((?:\s*"(?:[^"\\]|\\.)*")+),\s*(\d+)\)|"(?:[^"\\]|\\.)*"/g)
  return [...parts]
    .map(([part, repeated, times]) =>
      repeated === undefined ? unquote(part) : unquote(repeated).repeat(Number(times)),
    )
    .join('')
}

const parsed = (json: string, ignoreUnknown = false): AllTypes => {
  try {
    return read(parseJson(json), { registry, ignoreUnknown }) as AllTypes
  } catch (error) {
    throw invalidAt('', error)
  }
}

/** Equal as messages, and as bytes: `equals` takes NaN for unequal to itself. */
function expectSame(actual: Message, wanted: Message): void {
  const [a, b] = [actual, wanted] as [AllTypes, AllTypes]
  const isSame =
    equals(AllTypesSchema, a, b) ||
    Buffer.compare(toBinary(AllTypesSchema, a), toBinary(AllTypesSchema, b)) === 0
  expect(isSame, `${JSON.stringify(write(a, { registry }))} is not ${write(b, { registry })}`).to.equal(true)
}
