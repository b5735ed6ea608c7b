import type { Side } from '../subject.js'
import { PlainArticle, searching } from './search-data.js'

export const setUp = (): Promise<Side> => searching(PlainArticle)
