import type { Side } from '../subject.js'
import { skewed } from './skewed-data.js'

export const setUp = (): Promise<Side> => skewed('')
