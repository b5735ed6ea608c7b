import type { Side } from '../subject.js'
import { engineOf, PlainTask, tasksOf } from './hooks-data.js'

/** The same without listeners, each write in a transaction. `?engine=` says where. */
export const setUp = (): Promise<Side> => tasksOf(PlainTask, true, engineOf(import.meta.url))
