import { gatheredBy } from '../values/gathered.js'
import { quoted } from '../values/quoted.js'
import { postgresKinds } from './kinds.js'

export const postgresGathered = gatheredBy({
  quote: (name) => quoted(name, '"'),
  kinds: postgresKinds,
  all: (element) => `json_agg(${element})`,
  array: (elements) => `json_build_array(${elements.join(', ')})`,
  bytes: (text) => `octet_length(${text})`,
})
