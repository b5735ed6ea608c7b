import { create, type DescMethod } from '@bufbuild/protobuf'
import { EmptySchema } from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { Chain } from '../../../lib/server/chain/chain.js'
import { authentication } from '../../../lib/server/interceptors/authentication.js'
import { methodOf } from '../../../lib/server/chain/method.js'
import { errorMapper } from '../../../lib/server/interceptors/error-mapper.js'
import { fieldMask } from '../../../lib/server/interceptors/field-mask.js'
import { logging } from '../../../lib/server/interceptors/logging.js'
import { requestId } from '../../../lib/server/interceptors/request-id.js'
import { rateLimit } from '../../../lib/server/interceptors/rate-limit.js'
import { tenantId } from '../../../lib/server/interceptors/tenant-id.js'
import { EchoService, SpecimenService } from '../../support/gen/specimens_pb.js'
import { recordingLogger } from '../../support/servers/server.js'

describe('Chain', () => {
  const limiter = { consume: () => Promise.resolve() }
  const authenticator = { authenticate: () => Promise.reject(new TypeError('not called')) }

  it('does not compile in a wrong order', () => {
    const logger = recordingLogger()
    const logged = new Chain().add('tracing', undefined).add('logging', logging(logger))
    const identified = logged.add('requestId', requestId())
    // @ts-expect-error the tenant interceptor needs a request id and mapped errors
    expect(logged.add('tenantId', tenantId(false))).to.be.instanceOf(Chain)
    const outermost = requestId()
    const identity = outermost as typeof outermost | undefined
    const mapped = identified.add('errorMapper', errorMapper(logger)).add('tenantId', tenantId(false))
    // @ts-expect-error authentication stands inside of the rate limiter
    expect(mapped.add('authentication', authentication(authenticator, logger))).to.be.instanceOf(Chain)
    // @ts-expect-error the field mask interceptor reads the rule that authorization found
    expect(identified.add('fieldMask', fieldMask())).to.be.instanceOf(Chain)
    // @ts-expect-error nothing stands outside of logging
    expect(new Chain().add('requestId', outermost)).to.be.instanceOf(Chain)
    // @ts-expect-error the request id is read further inside, and is never left out
    expect(logged.add('requestId', identity)).to.be.instanceOf(Chain)
  })

  it('compiles in the order of the framework, with or without what is configured', () => {
    const logger = recordingLogger()
    const mapped = new Chain()
      .add('tracing', undefined)
      .add('logging', logging(logger))
      .add('requestId', requestId())
      .add('errorMapper', errorMapper(logger))
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
