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
import { withUnknownTypes, writableJson } from '../../../lib/server/connect/writable-json.js'

describe('a google.protobuf.Any over Connect', () => {
  const registry = withUnknownTypes(createRegistry(AnySchema, EmptySchema, FieldMaskSchema))
  const json = (any: Any) => toJson(AnySchema, any, { registry })

  it('has its type alone where only a newer image knows it', () => {
    for (const name of ['newer.v1.Fresh', 'Fresh', 'a.b.C.D']) {
      const typeUrl = `type.googleapis.com/${name}`
      expect(json(create(AnySchema, { typeUrl, value: Uint8Array.of(10, 1, 97) }))).to.deep.equal({
        '@type': typeUrl,
      })
    }
  })

  it('has its type alone where it cannot be read, at whatever depth, and stays as it is itself', () => {
    const broken = Uint8Array.of(255, 255)
    const written = (any: Any) => json(writableJson(AnySchema, any, registry) as Any)
    for (const name of ['google.protobuf.Empty', 'newer.v1.Fresh']) {
      const typeUrl = `type.googleapis.com/${name}`
      const any = create(AnySchema, { typeUrl, value: broken })
      expect(written(any)).to.deep.equal({ '@type': typeUrl })
      expect(any.value).to.equal(broken)
      const outer = anyPack(AnySchema, any)
      expect(written(outer)).to.deep.equal({ '@type': outer.typeUrl, value: { '@type': typeUrl } })
    }
  })

  it('is written as a whole where it is known', () => {
    const mask: FieldMask = create(FieldMaskSchema, { paths: ['a'] })
    expect(json(anyPack(FieldMaskSchema, mask))).to.deep.include({ value: 'a' })
  })
})
