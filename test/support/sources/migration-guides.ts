import { textOf } from './documents.js'

/** The guides to migrations. The tests in `test/cli/migrate` run their commands. */
const GUIDES = [
  'migrations',
  'changing-tables',
  'backfills',
  'trying-migrations',
  'database-takeover',
  'failed-migrations',
].map((name) => textOf(`docs/guides/${name}.md`))

/** The sections of the guides by title, without the text before the first heading. */
const SECTIONS = new Map(
  GUIDES.flatMap((text) => text.split('\n## ').slice(1)).map((section) => {
    const end = section.indexOf('\n')
    return [section.slice(0, end), section.slice(end + 1)]
  }),
)

export const guideSection = (title: string): string => {
  const text = SECTIONS.get(title)
  if (text === undefined) throw new Error(`no guide to migrations has the section ${title}`)
  return text
}

/** The titles of the sections that `guide.test.ts` and `guide-blocks.test.ts` run. */
const RUN_ELSEWHERE = ['A required column with real values', 'A database of another tool']

const firstCommands = (text: string) => /```sh\n(.*?)\n```/s.exec(text)?.[1]

/** The commands of each section that can be run on its own, by title. */
export const RECIPES: ReadonlyMap<string, string> = new Map(
  [...SECTIONS].flatMap(([title, text]) => {
    const commands = firstCommands(text)
    return commands === undefined || RUN_ELSEWHERE.includes(title) ? [] : [[title, commands] as const]
  }),
)

/** Returns the commands of the first shell block in a text. */
export const commandsOf = (text: string): readonly string[] => (firstCommands(text) ?? '').split('\n')
