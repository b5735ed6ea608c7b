import { expect } from 'chai'
import { Chain } from '../../lib/server/compose.js'
import { authentication } from '../../lib/server/interceptors/authentication.js'
import { fieldMask } from '../../lib/server/interceptors/field-mask.js'
import { logging } from '../../lib/server/interceptors/logging.js'
import { tracing } from '../../lib/server/interceptors/tracing.js'
import { requestId } from '../../lib/server/interceptors/request-id.js'
import { tenantId } from '../../lib/server/interceptors/tenant-id.js'
import { recordingLogger } from '../support/servers/server.js'

describe('Chain', () => {
  it('does not compile in a wrong order', () => {
    const logged = new Chain().link(tracing(() => undefined)).link(logging(recordingLogger()))
    const identified = logged.link(requestId(() => 1, new Set()))
    // @ts-expect-error the tenant stage needs a request id and mapped errors
    expect(logged.link(tenantId(false))).to.be.instanceOf(Chain)
    // @ts-expect-error authentication stands behind the rate limiter
    expect(identified.link(authentication(undefined))).to.be.instanceOf(Chain)
    // @ts-expect-error the field mask stage reads the rule that authorization found
    expect(identified.link(fieldMask())).to.be.instanceOf(Chain)
    // @ts-expect-error nothing stands outside of logging
    expect(new Chain().link(requestId(() => 1, new Set()))).to.be.instanceOf(Chain)
  })
})
