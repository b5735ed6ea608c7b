import type { Side } from '../subject.js'
import { PlainTask, tasksOf } from './hooks-data.js'

/** The same without listeners, each write in a transaction. */
export const setUp = (): Promise<Side> => tasksOf(PlainTask, true)
