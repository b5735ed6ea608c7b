import { create, createRegistry, toJson } from '@bufbuild/protobuf'
import {
  type Any,
  AnySchema,
  anyPack,
  EmptySchema,
  type FieldMask,
  FieldMaskSchema,
} from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { withUnknownTypes } from '../../../lib/server/connect/any-types.js'

describe('a google.protobuf.Any over Connect', () => {
  const registry = withUnknownTypes(createRegistry(EmptySchema, FieldMaskSchema))
  const json = (any: Any) => toJson(AnySchema, any, { registry })

  it('has its type alone where only a newer image knows it', () => {
    for (const name of ['newer.v1.Fresh', 'Fresh', 'a.b.C.D']) {
      const typeUrl = `type.googleapis.com/${name}`
      expect(json(create(AnySchema, { typeUrl, value: Uint8Array.of(10, 1, 97) }))).to.deep.equal({
        '@type': typeUrl,
      })
    }
  })

  it('is written as a whole where it is known', () => {
    const mask: FieldMask = create(FieldMaskSchema, { paths: ['a'] })
    expect(json(anyPack(FieldMaskSchema, mask))).to.deep.include({ value: 'a' })
  })
})
