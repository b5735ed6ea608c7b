import type { Side } from '../subject.js'
import { IndexedArticle, searching } from './search-data.js'

export const setUp = (): Promise<Side> => searching(IndexedArticle)
