import { gatheredBy } from '../values/gathered.js'
import { quoted } from '../values/quoted.js'
import { sqliteKinds } from './kinds.js'

export const sqliteGathered = gatheredBy({
  quote: (name) => quoted(name, '`'),
  kinds: sqliteKinds,
  all: (element) => `json_group_array(${element})`,
  array: (elements) => `json_array(${elements.join(', ')})`,
  bytes: (text) => `length(CAST(${text} AS BLOB))`,
})
