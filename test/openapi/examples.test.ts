import { create, type DescService } from '@bufbuild/protobuf'
import { expect } from 'chai'
import { file_orders } from '../../examples/orders/gen/orders_pb.js'
import { file_widgets } from '../../examples/widgets/gen/widgets_pb.js'
import { fieldReader, messageReader } from '../../lib/gateway/json/reader.js'
import { parseJson } from '../../lib/gateway/json/parse.js'
import { bindingOf } from '../../lib/gateway/routing/bindings.js'
import { httpRulesOf } from '../../lib/resource/messages/http-paths.js'
import { openApi } from '../../lib/server/openapi/open-api.js'
import { file_jsontypes } from '../support/gen/jsontypes_pb.js'
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
