import { shellWord } from '../../../lib/text/shell-word.js'

/** Flags that the next command needs as well. The connection string is not among them: it may hold a password. */
export interface KeptFlags {
  readonly files?: string | undefined
  readonly module?: string | undefined
  readonly schema?: string | undefined
}

const DEFAULT_FOLDER = 'migrations'
/** Commands without a database. */
const ON_FILES = ['lint', 'renumber']
const COMMAND = /\bashlar migrate ([a-z]+(?:-[a-z]+)*)(?=( --schema )?)/g

/** A text whose command lines, such as `ashlar migrate up`, have the flags of the command that prints it. One that names a schema keeps it. */
export function withKeptFlags(text: string, { files, module, schema }: KeptFlags): string {
  const ofFiles = files === DEFAULT_FOLDER ? [] : flag('files', files)
  const ofDatabase = [...flag('module', module), ...flag('schema', schema)]
  return text.replaceAll(COMMAND, (line, verb: string, other: string | undefined) =>
    [line, ...ofFiles, ...(ON_FILES.includes(verb) || other !== undefined ? [] : ofDatabase)].join(' '),
  )
}

const flag = (name: string, value: string | undefined): readonly string[] =>
  value === undefined ? [] : [`--${name}`, shellWord(value)]
