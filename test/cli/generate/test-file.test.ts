import { expect } from 'chai'
import { parseFields } from '../../../cli/generate/field-spec.js'
import { resourceNames } from '../../../cli/generate/resource-names.js'
import { testFile } from '../../../cli/generate/test-file.js'

describe('the generated test', () => {
  const written = testFile(
    resourceNames('Appointment'),
    parseFields('email:string! start_time:timestamp! end_time:timestamp! valid_to:timestamp? vendor:string!'),
  )

  it('has samples that read like English, and an end after its start', () => {
    expect(written).to.include(`
/** A message Appointment as JSON, which the tests create. */
const sample = {
  email: 'some email',
  startTime: '2026-01-31T12:00:00Z',
  endTime: '2026-01-31T13:00:00Z',
  validTo: '2026-01-31T13:00:00Z',
  vendor: 'some vendor',
}
`)
  })
})
