import { CLASS_ROWS } from './class-rows.js'
import { COLUMN_ROWS } from './column-rows.js'
import { RELATION_ROWS } from './relation-rows.js'
import { ROLE_ROWS } from './role-rows.js'
import type { Row } from './row.js'

export const ROWS: readonly Row[] = [...COLUMN_ROWS, ...ROLE_ROWS, ...RELATION_ROWS, ...CLASS_ROWS]
