import type { Side } from '../subject.js'
import { engineOf, PlainTask, tasksOf } from './hooks-data.js'

/** No listeners; each write runs in a transaction. `?engine=` selects the database. */
export const setUp = (): Promise<Side> => tasksOf(PlainTask, true, engineOf(import.meta.url))
