import { create, type DescService } from '@bufbuild/protobuf'
import { expect } from 'chai'
import { file_orders } from '../../examples/orders/gen/orders_pb.js'
import { file_widgets } from '../../examples/widgets/gen/widgets_pb.js'
import { fieldReader, messageReader } from '../../lib/gateway/json/reader.js'
import { parseJson } from '../../lib/gateway/json/parse.js'
import { bindingOf } from '../../lib/gateway/routing/bindings.js'
import { httpRulesOf } from '../../lib/resource/messages/http-paths.js'
import { openApi } from '../../lib/server/openapi/open-api.js'
import { AllTypesSchema, file_jsontypes } from '../support/gen/jsontypes_pb.js'
import { file_parcels } from '../support/gen/parcels_pb.js'
import { file_specimens } from '../support/gen/specimens_pb.js'
import { file_tickets } from '../support/gen/tickets_pb.js'
import { Described } from '../support/openapi/described.js'

/** Services with every kind of field. */
const SERVICES: readonly DescService[] = [
  ...[file_widgets, file_orders, file_jsontypes, file_parcels, file_specimens, file_tickets],
].flatMap(({ services }) => services)

describe('the examples of a document', () => {
  it('are bodies that the gateway reads', async () => {
    const described = new Described(await openApi(SERVICES))
    let count = 0
    for (const { methods, typeName } of SERVICES)
      for (const method of methods)
        for (const [index, rule] of httpRulesOf(method).entries()) {
          const { body } = bindingOf(method, rule, index)
          const id = `${typeName}.${method.name}${index === 0 ? '' : `_${index}`}`
          const operation = described.operations.find(({ operationId }) => operationId === id)
          if (operation?.example === undefined || body === undefined) continue
          count++
          const json = parseJson(JSON.stringify(operation.example))
          expect(
            () => {
              if (body === '*') messageReader(method.input)(json, {})
              else fieldReader(body)(create(method.input), json, {})
            },
            `${id} ${JSON.stringify(operation.example)}`,
          ).to.not.throw()
        }
    expect(count).to.be.above(30)
  })

  it('hold no secret, though the schemas have its field', async () => {
    const text = await openApi(SERVICES)
    expect(text).to.include('"pin": {')
    const names = new Set<string>()
    examplesIn(JSON.parse(text), names)
    expect([...names])
      .to.include('title')
      .and.not.include('pin')
  })
})

describe('the document', () => {
  interface Schema {
    readonly type?: string | readonly string[]
    readonly anyOf?: readonly Schema[]
  }
  const takesNumber = ({ type = [], anyOf = [] }: Schema): boolean =>
    [type].flat().some((one) => one === 'integer' || one === 'number') || anyOf.some(takesNumber)

  it('says that a request may have a number, for an enum and 64 bits too, where the gateway reads one', async () => {
    const { components } = JSON.parse(await openApi(SERVICES)) as {
      readonly components: {
        readonly schemas: Readonly<Record<string, { properties: Record<string, Schema> }>>
      }
    }
    const [input, output] = ['jsontypes.v1.AllTypes-input', 'jsontypes.v1.AllTypes'].map(
      (name) => components.schemas[name]?.properties ?? expect.fail(name),
    ) as [Record<string, Schema>, Record<string, Schema>]
    const told: Record<string, number> = {}
    for (const field of AllTypesSchema.fields) {
      if (field.fieldKind !== 'scalar' && field.fieldKind !== 'enum') continue
      if (field.enum?.typeName === 'google.protobuf.NullValue') continue
      const reads = () => fieldReader(field)(create(AllTypesSchema), parseJson('1'), {})
      const kind = field.fieldKind === 'enum' ? 'enum' : String(field.scalar)
      if (takesNumber(input[field.jsonName] ?? {})) expect(reads, field.name).to.not.throw()
      else expect(reads, field.name).to.throw()
      told[kind] = (told[kind] ?? 0) + 1
      if (kind === 'enum' || /int64|fixed64/.test(field.name))
        expect([field.name, takesNumber(output[field.jsonName] ?? {})]).to.deep.equal([field.name, false])
    }
    expect(Object.keys(told)).to.have.length.above(10)
  })
})

/** The names of fields in all examples of a document. */
function examplesIn(part: unknown, names: Set<string>): void {
  if (typeof part !== 'object' || part === null) return
  for (const [name, inner] of Object.entries(part)) {
    if (name === 'example') namesIn(inner, names)
    else examplesIn(inner, names)
  }
}

function namesIn(part: unknown, names: Set<string>): void {
  if (typeof part !== 'object' || part === null) return
  for (const [name, inner] of Object.entries(part)) {
    names.add(name)
    namesIn(inner, names)
  }
}
