import { create, createRegistry, type DescMethod } from '@bufbuild/protobuf'
import { EmptySchema } from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { Chain } from '../../../lib/server/chain/chain.js'
import type { Redaction } from '../../../lib/resource/redaction.js'
import { authentication } from '../../../lib/server/interceptors/authentication.js'
import { methodOf } from '../../../lib/server/chain/method.js'
import { deadline } from '../../../lib/server/interceptors/call-deadline.js'
import { errorMapper } from '../../../lib/server/interceptors/error-mapper.js'
import { fieldMask } from '../../../lib/server/interceptors/field-mask.js'
import { logging } from '../../../lib/server/interceptors/logging.js'
import { requestId } from '../../../lib/server/interceptors/request-id.js'
import { rateLimit } from '../../../lib/server/interceptors/rate-limit.js'
import { tenantId } from '../../../lib/server/interceptors/tenant-id.js'
import { EchoService, SpecimenService } from '../../support/gen/specimens_pb.js'
import { recordingLogger } from '../../support/servers/server.js'

describe('Chain', () => {
  const redaction: Redaction = { isSecret: () => false, types: createRegistry() }
  const limiter = { consume: () => Promise.resolve() }
  const authenticator = { authenticate: () => Promise.reject(new TypeError('not called')) }

  it('does not compile in a wrong order', () => {
    const logger = recordingLogger()
    const traced = new Chain().add('tracing', undefined)
    const identified = traced.add('requestId', requestId())
    const limited = identified.add('logging', logging(logger, redaction)).add('deadline', deadline())
    // @ts-expect-error the tenant interceptor needs a request id and mapped errors
    expect(traced.add('tenantId', tenantId(false))).to.be.instanceOf(Chain)
    const outermost = requestId()
    const identity = outermost as typeof outermost | undefined
    const mapped = limited.add('errorMapper', errorMapper(logger, 1_000)).add('tenantId', tenantId(false))
    // @ts-expect-error authentication stands inside of the rate limiter
    expect(mapped.add('authentication', authentication(authenticator, logger))).to.be.instanceOf(Chain)
    // @ts-expect-error the field mask interceptor reads the rule that authorization found
    expect(identified.add('fieldMask', fieldMask())).to.be.instanceOf(Chain)
    // @ts-expect-error only tracing stands outside of the request id
    expect(new Chain().add('requestId', outermost)).to.be.instanceOf(Chain)
    // @ts-expect-error the request id is read further inside, and is never left out
    expect(traced.add('requestId', identity)).to.be.instanceOf(Chain)
    // @ts-expect-error errors are mapped inside of the deadline
    expect(identified.add('errorMapper', errorMapper(logger, 1_000))).to.be.instanceOf(Chain)
  })

  it('compiles in the order of the framework, with or without what is configured', () => {
    const logger = recordingLogger()
    const mapped = new Chain()
      .add('tracing', undefined)
      .add('requestId', requestId())
      .add('logging', logging(logger, redaction))
      .add('deadline', deadline())
      .add('errorMapper', errorMapper(logger, 1_000))
      .add('tenantId', tenantId(false))
    for (const limited of [
      mapped.add('rateLimit', undefined),
      mapped.add('rateLimit', rateLimit(limiter, logger, 'nothing')),
    ])
      expect(limited.add('authentication', authentication(authenticator, logger))).to.be.instanceOf(Chain)
  })

  it('leaves out what has nothing to do for a method', () => {
    const next = () => create(EmptySchema)
    const wrapped = (desc: DescMethod) =>
      fieldMask()(next, { method: methodOf(desc), handler: undefined as never })
    expect(wrapped(EchoService.method.collect)).to.equal(next)
    expect(wrapped(SpecimenService.method.updateSpecimen)).not.to.equal(next)
  })
})
